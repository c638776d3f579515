"""Landing as a whole: what lands, what is refused and why, dry runs, and other writers at work."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from edits.formats.events import Completed
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused, Status
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project, parse
from tests.faults import in_processes


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def block(path: str, search: str, replace: str) -> str:
    return f"{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n"


def test_a_range_frames_the_new_text_only(project: Project) -> None:
    project.write({"f.x": "a\nb\nc\nd\n"})
    project.apply(block("f.x", "a\nb\nc\n", "a\nB1\nB2\nc\n"))
    (landed,) = project.landed
    assert (landed.start, landed.end, landed.status) == (2, 4, Status.APPLIED)


def test_a_wrong_path_names_the_likely_file(project: Project) -> None:
    project.write({"src/app/main.py": "x\n", "src/other.py": "x\n"})
    project.apply(block("app/main.py", "x\n", "y\n"))
    (refused,) = project.refusals
    assert refused.code is RefusalCode.MISSING_FILE and "did you mean src/app/main.py?" in refused.message


def test_of_several_likely_files_the_one_that_holds_the_text_is_named(project: Project) -> None:
    project.write({"a/mod.py": "other\n", "b/mod.py": "the text\n", "c/mod.py": "\0"})
    project.apply(block("mod.py", "the text\n", "y\n"))
    (refused,) = project.refusals
    assert refused.code is RefusalCode.MISSING_FILE and "did you mean b/mod.py?" in refused.message


def test_an_empty_search_makes_a_file_but_never_replaces_one(project: Project) -> None:
    project.apply(block("new.py", "", "x = 1\n") + block("new.py", "", "x = 2\n"))
    assert project.read() == {"new.py": "x = 1\n"}
    assert [refusal.code for refusal in project.refusals] == [RefusalCode.EXISTS]


def test_a_file_whose_text_holds_the_separator_can_be_made(project: Project) -> None:
    project.apply(block("doc.rst", "", "Title\n=======\n\ntext\n"))
    assert project.read() == {"doc.rst": "Title\n=======\n\ntext\n"}


def test_a_separator_in_the_text_is_split_where_the_file_agrees(project: Project) -> None:
    project.write({"doc.rst": "Title\n=======\n\ntext\n"})
    project.apply(block("doc.rst", "Title\n=======\n", "Heading\n=======\n"))
    assert project.read() == {"doc.rst": "Heading\n=======\n\ntext\n"}


def test_the_same_insertion_sent_twice_lands_once(project: Project) -> None:
    project.write({"a.py": "import os\n\nx = 1\n"})
    text = block("a.py", "import os\n", "import os\nimport sys\n")
    project.apply(text + text)
    assert project.read() == {"a.py": "import os\nimport sys\n\nx = 1\n"}
    assert [landed.status for landed in project.landed] == [Status.APPLIED, Status.ALREADY_APPLIED]


def test_hunks_before_a_refused_one_stay_and_later_ones_are_tried(project: Project) -> None:
    project.write({"a.py": "one\ntwo\nthree\n"})
    for old, new in (("one\n", "1\n"), ("nine\n", "9\n"), ("three\n", "3\n")):
        project.apply(block("a.py", old, new))
    assert project.read() == {"a.py": "1\ntwo\n3\n"}
    assert [type(result) for result in project.results] == [Landed, Refused, Landed]


def test_a_dry_run_writes_nothing_and_sees_its_own_earlier_hunks(project: Project) -> None:
    project.write({"a.py": "one\n"})
    text = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n@@\n-two\n+three\n"
        "*** Add File: n.py\n+x\n*** Update File: n.py\n@@\n-x\n+y\n*** Delete File: n.py\n"
        "*** Update File: a.py\n*** Move to: b.py\n@@\n-three\n+four\n"
        "*** Update File: b.py\n@@\n-four\n+five\n"
        "*** End Patch\n"
    )
    hunks = [event.hunk for event in parse([text]) if isinstance(event, Completed)]
    results = [project.landing.land(hunk, hunk_id=f"h{n}", dry_run=True) for n, hunk in enumerate(hunks)]
    assert len(results) == 7 and all(isinstance(result, Landed) for result in results), results
    assert project.read() == {"a.py": "one\n"} and project.ledger.hunks() == []


def test_what_the_user_saves_during_the_write_is_kept_and_the_hunk_placed_anew(project: Project) -> None:
    project.write({"a.py": "one\ntwo\n"})
    saved: list[str] = []

    def save_once(step: str) -> None:
        if step == "temporary written" and not saved:
            saved.append(step)
            (project.root / "a.py").write_text("mine\none\ntwo\n")

    landing = Landing(project.root, project.ledger, step=save_once)
    (hunk,) = [event.hunk for event in parse([block("a.py", "two\n", "2\n")]) if isinstance(event, Completed)]
    landed = landing.land(hunk, hunk_id="h1")
    assert isinstance(landed, Landed) and (landed.start, landed.end) == (3, 4)
    assert project.read() == {"a.py": "mine\none\n2\n"}
    assert project.ledger.recover() == [] and isinstance(landing.undo("h1"), Landed)


def test_a_file_written_without_end_is_left_alone(project: Project) -> None:
    project.write({"a.py": "two\n"})
    count = 0

    def save(step: str) -> None:
        nonlocal count
        if step == "temporary written":
            count += 1
            (project.root / "a.py").write_text(f"{count}\ntwo\n")

    (hunk,) = [event.hunk for event in parse([block("a.py", "two\n", "2\n")]) if isinstance(event, Completed)]
    refused = Landing(project.root, project.ledger, step=save).land(hunk, hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.CONFLICT
    assert project.read() == {"a.py": f"{count}\ntwo\n"}


def test_aim_finds_the_one_place_of_lines_being_typed(project: Project) -> None:
    project.write({"a.py": "x\n  y\nz\nx\n"})
    assert project.landing.aim("a.py", ["y"]) == (2, 3)
    assert project.landing.aim("a.py", ["  y", "z"]) == (2, 4)
    for path, old in (
        ("a.py", ["x"]),
        ("a.py", ["nothing"]),
        ("a.py", [""]),
        ("none", ["x"]),
        ("../a", ["x"]),
    ):
        assert project.landing.aim(path, old) is None
    project.write({"a.py": "new\nx\n  y\n"})
    assert project.landing.aim("a.py", ["y"]) == (3, 4)


def test_a_whole_hunk_is_aimed_where_it_would_land(project: Project) -> None:
    lines = ["def one():", "    x", "", "def two():", "    x"]
    project.write({"a.py": "\n".join(lines) + "\n"})

    def aimed(path: str, text: str, old: str = "    x", new: str = "    y") -> tuple[int, int] | None:
        parts = [HunkLine(LineKind.OLD, old)] if old else []
        hunk = Hunk(path, Action.UPDATE, Format.V4A, (*parts, HunkLine(LineKind.NEW, new)), (text,))
        return project.landing.aim_whole(hunk)

    assert aimed("a.py", "def two():") == (5, 6)
    assert aimed("a.py", "def one():") == (2, 3)
    assert aimed("a.py", "def two():", "nothing") is None
    assert aimed("none.py", "def two():") is None
    whole = Hunk("a.py", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "z"),))
    assert project.landing.aim_whole(whole) is None


def test_ids_are_unique_across_processes(project: Project) -> None:
    def take() -> list[str]:
        ledger = Ledger(project.folder / "ledger")
        return [ledger.next_id() for _ in range(200)]

    ids = [one for taken in in_processes(take, take, take) for one in taken]
    assert sorted(ids, key=lambda name: int(name[1:])) == [f"h{number}" for number in range(1, 601)]
    assert project.ledger.next_id() == "h601"


def test_two_processes_landing_in_one_file_lose_nothing(project: Project) -> None:
    project.write({"a.txt": "".join(f"line {number}\n" for number in range(40))})

    def every_other(first: int) -> None:
        ledger = Ledger(project.folder / "ledger")
        landing = Landing(project.root, ledger)
        for number in range(first, 40, 2):
            lines = (HunkLine(LineKind.OLD, f"line {number}"), HunkLine(LineKind.NEW, f"LINE {number}"))
            hunk = Hunk("a.txt", Action.UPDATE, Format.V4A, lines)
            landing.land(hunk, hunk_id=ledger.next_id())

    in_processes(partial(every_other, 0), partial(every_other, 1))
    assert project.read() == {"a.txt": "".join(f"LINE {number}\n" for number in range(40))}
    assert len(project.ledger.hunks()) == 40
