"""The contest of passages and the list of the files that take part, as tables: who is ahead, and why."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from context.disk.source import Source
from context.find.order import Ranking
from context.find.ranking import rank
from context.index.file_text import FileText
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.window.likely_parts import contest, shortlist
from context.window.passages import passages
from tests.context.conftest import Repo

WAY = "".join(f"    value = value * {n}  # step {n} of a long way\n" for n in range(40))
WANTED = {"quench": 1.0, "cool": 0.5}


def function(name: str, body: str = WAY) -> str:
    return f"def {name}(value):\n{body}\n\n"


FILES = {
    "a.py": function("one")
    + function("two", f"{WAY}    quench(it)\n")
    + function("three", f"{WAY}    quench(it); quench(it); cool(it)\n"),
    "quench.py": function("four"),
    "tests/test_a.py": function("five", "    quench()\n"),
    "b.py": function("six", "    cool()\n"),
    "z.py": function("seven"),
}


@dataclass(frozen=True)
class Given:
    """A project and the ranking of its files for a request."""

    snapshot: Snapshot
    ranking: Ranking

    def files(self, *paths: str) -> dict[str, FileText]:
        return {path: FileText(Source(path, FILES[path], path)) for path in paths}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    repo = Repo(tmp_path_factory.mktemp("project"))
    repo.commit(**FILES)
    snapshot = Project(repo.root).scan()
    return Given(snapshot, rank(snapshot, "where do we quench?", ()))


CONTESTS: dict[str, tuple[dict[str, float], bool, str]] = {
    "of none": ({}, False, ""),
    "of one": (
        {"b.py": 1.0},
        False,
        """
4.06 b.py 0-4
""",
    ),
    "of all": (
        dict.fromkeys(FILES, 1.0),
        False,
        """
3.37 a.py 87-131
2.39 tests/test_a.py 0-4
2.34 b.py 0-4
1.98 a.py 43-87
1.77 quench.py 0-43
0.95 z.py 0-43
""",
    ),
    "with the others behind": (
        {"a.py": 1.0, "b.py": 0.5},
        True,
        """
3.37 a.py 87-131
2.08 a.py 43-87
1.73 b.py 0-4
0.82 a.py 0-43
""",
    ),
    "of less and less likely files": (
        {"z.py": 0.9, "a.py": 0.3, "tests/test_a.py": 0.1},
        False,
        """
2.02 a.py 87-131
1.76 z.py 0-43
0.76 tests/test_a.py 0-4
0.42 a.py 43-87
""",
    ),
    "of files without scores": (
        {"z.py": 0.0, "b.py": 0.0},
        False,
        """
2.22 b.py 0-4
0.26 z.py 0-43
""",
    ),
}
"""The scores of files, whether all passages are wanted, and the passages with their scores in order."""


@pytest.mark.parametrize("name", CONTESTS)
def test_the_order_of_passages(given: Given, name: str) -> None:
    scores, every, order = CONTESTS[name]
    parts = contest(given.files(*scores), scores, WANTED, given.ranking, given.snapshot, every=every)
    told = [
        f"{-part.negated:.2f} {part.path} {part.start}-{part.stop}{' sure' * part.sure}" for part in parts
    ]
    assert told == order.split("\n")[1:-1]
    for part in parts:
        assert part.size == len("".join(FILES[part.path].splitlines(keepends=True)[part.start : part.stop]))
        assert part.lines == range(part.start, part.stop)


def test_a_function_is_whole_unless_it_is_very_long(given: Given) -> None:
    short, long = function("one"), function("two", WAY * 3)
    text = f"{short}{long}class A:\n    def three(self):\n        pass\n"
    found = [tuple(each.lines) for each in passages(FileText(Source("a.py", text, text)))]
    assert found[0] == tuple(range(43)), "its 2,000 characters, and the empty lines behind it"
    assert len(found) > 3 and all(len(lines) < 40 for lines in found[1:])
    assert [line for lines in found for line in lines] == list(range(text.count("\n")))


def test_tests_come_below_code_unless_they_are_asked_for_or_a_file_is_in_hand(given: Given) -> None:
    def score(request: str, *hand: str) -> float:
        ranking = rank(given.snapshot, request, hand)
        scores = {"tests/test_a.py": 1.0}
        parts = contest(given.files(*scores), scores, {"quench": 1.0}, ranking, given.snapshot)
        return -parts[0].negated

    plain = score("where do we quench?")
    assert score("which tests quench?") >= plain + 0.5
    assert score("where do we quench?", "b.py") == pytest.approx(plain + 0.5)


FAR = "x = 1\n" * 400
SHORTLISTS: list[tuple[str, dict[str, str], dict[str, float], int, str]] = [
    ("all of few, in their order", {"b": "", "a": "quench"}, {}, 2, "b a"),
    ("the word", {"b": "", "a": "quench"}, {}, 1, "a"),
    ("both words in one stretch", {"a": "quench", "b": "quench cool"}, {}, 1, "b"),
    (
        "not in two",
        {"c": f"quench\n{FAR}cool", "a": f"quench\n{FAR}", "b": f"quench cool\n{FAR}"},
        {},
        1,
        "b",
    ),
    (
        "a word counts once in a stretch",
        {"a": "quench", "b": "cool " * 9 + "quench", "c": "quench " * 9},
        {},
        1,
        "b",
    ),
    ("the word with more weight", {"a": "cool", "b": "quench"}, {}, 1, "b"),
    ("the letters inside of a name too", {"a": "nothing", "b": "myQuenchers"}, {}, 1, "b"),
    ("without the words, the score", {"a": "", "b": ""}, {"b": 2.0}, 1, "b"),
    ("without anything, their order", {"b": "", "a": "", "c": ""}, dict.fromkeys("bac", 0.0), 2, "b a"),
    ("a shorter file", {"a": FAR * 4, "b": "x = 1\n" * 400}, {}, 1, "b"),
    ("a path with the word", {"a": "", "quench": ""}, dict.fromkeys(["a", "quench"], 0.0), 1, "quench"),
]


@pytest.mark.parametrize(
    ("texts", "scores", "most", "taken"), [row[1:] for row in SHORTLISTS], ids=[row[0] for row in SHORTLISTS]
)
def test_the_files_that_take_part(
    given: Given, texts: dict[str, str], scores: dict[str, float], most: int, taken: str
) -> None:
    files = {path: FileText(Source(path, text, f"{path} {text}")) for path, text in texts.items()}
    ranked = {path: scores.get(path, 1.0) for path in sorted(files, key=lambda path: -scores.get(path, 1.0))}
    found = shortlist(files, ranked, WANTED, given.ranking, given.snapshot, most)
    assert list(found) == taken.split() and all(found[path] is files[path] for path in found)
