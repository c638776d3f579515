"""What changed tells what the user is working on."""

from __future__ import annotations

from pathlib import Path

import pytest

from context.find.ranking import changed_words, rank
from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import WindowRequest
from context.window.window import build
from tests.context.conftest import Repo

FILLER = "".join(f"    total = total + weigh_{n}(total)\n" for n in range(60))
WORK = f"def first(total):\n{FILLER}\n\ndef last(total):\n    return old_rate(total)\n"
FILES = {
    "work.py": WORK,
    "rates.py": "def quench(value):\n    return value * 3\n",
    "callers.py": "from work import old_rate\n\nprint(old_rate(3))\n",
    **{f"weigh_{n}.py": f"def weigh_{n}(total):\n    return total + {n}\n" for n in range(20)},
}


def changed(repo: Repo) -> Project:
    repo.commit(**FILES)
    repo.write("work.py", WORK.replace("return old_rate(total)", "return quench(total)"))
    return Project(repo.root)


def test_words_of_lines_that_are_new_and_that_are_gone_are_counted(repo: Repo) -> None:
    counted = changed_words(changed(repo).scan(), ["work.py", "rates.py"])
    assert counted == {"return": 2, "quench": 1, "total": 2, "old_rate": 1, "old": 1, "rate": 1}


@pytest.mark.parametrize("after", ["", None], ids=["line", "file"])
def test_a_name_counts_that_stands_elsewhere_in_the_file_or_whose_file_is_gone(
    repo: Repo, after: str | None
) -> None:
    before = "quench(1)\n"
    repo.commit(**{"a.py": before * 2, **FILES})
    repo.write("a.py", before) if after == "" else (repo.root / "a.py").unlink()
    snapshot = Project(repo.root).scan()
    assert changed_words(snapshot, ["a.py"])["quench"] == (1 if after == "" else 2)
    assert rank(snapshot, "Go on.", ["a.py"]).order.top[0] == "rates.py"


def test_what_an_edit_changed_that_is_committed_or_undone_counts_as_changed_lines_do(repo: Repo) -> None:
    repo.commit(**FILES)
    snapshot = Project(repo.root).scan()
    ranking = rank(snapshot, "Go on.", [], at_work="    return old_rate(total)\n    return quench(total)\n")
    assert set(ranking.order.top[:2]) == {"rates.py", "callers.py"}
    assert ranking.changed


def test_a_line_that_moved_counts(repo: Repo) -> None:
    repo.commit(**{"a.py": "one = 1\ntwo = 2\nthree = 3\n"})
    repo.write("a.py", "two = 2\nthree = 3\none = 1\n")
    assert changed_words(Project(repo.root).scan(), ["a.py"]) == {"one": 2}


def test_what_changed_ranks_before_the_rest_of_the_file(repo: Repo) -> None:
    ranking = rank(changed(repo).scan(), "Go on.", ["work.py"])
    assert set(ranking.order.top[:2]) == {"rates.py", "callers.py"}
    assert ranking.reasons["rates.py"] == "its words match what changed"
    assert ranking.changed


def test_a_request_that_says_little_brings_what_the_change_is_about(repo: Repo, counter: Counter) -> None:
    asked = WindowRequest("Go on.", "", 30_000, likely_limit=0, fills_up=True)
    window = build(asked, changed(repo).scan(), counter)
    assert FILES["rates.py"] in window.text and FILES["callers.py"] in window.text


def test_a_request_that_says_little_costs_no_large_window(repo: Repo, counter: Counter) -> None:
    quench = "    quench(value)\n" * 400
    many = {f"quench_{at}.py": f"def cool_{at}(value):\n{quench}" for at in range(30)}
    repo.commit(**many, **{f"other_{at}.py": f"other = {at}\n" for at in range(200)})
    project = changed(repo)

    def spent(text: str) -> int:
        asked = WindowRequest(text, "", 120_000, likely_limit=0, fills_up=True)
        pieces = build(asked, project.scan(), counter).pieces
        return sum(piece.tokens for piece in pieces if piece.why.startswith("likely to matter"))

    assert 10_000 < spent("Go on.") <= 16_000 < 40_000 < spent("Go on with the quench.")


def test_without_an_earlier_text_no_names_are_gone(tmp_path: Path) -> None:
    Repo(tmp_path).commit(**FILES)
    (tmp_path / ".git").rename(tmp_path.with_name("away"))
    project = Project(tmp_path)
    project.scan()
    (tmp_path / "work.py").write_text(WORK.replace("return old_rate(total)", "return quench(total)"))
    counted = changed_words(project.update(["work.py"]), ["work.py"])
    assert counted == {"return": 1, "quench": 1, "total": 1}
