"""What one hunk does to one file, as tables: the files before, the hunk, the files after and the result."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from edits.change import NoGitRules
from edits.guards.off_limits import OffLimits
from edits.guards.protection import Locks, Protection
from edits.hunk import (
    Action,
    Format,
    Guard,
    Held,
    Hunk,
    Landed,
    RefusalCode,
    Refused,
    RefusedBy,
    Replacement,
    Rung,
    Status,
)
from edits.landing import Landing
from edits.placing import large_files
from tests.edits.helpers import Project
from tests.edits.landing.written import ABC, add, body, delete, move, update, whole


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@dataclass(frozen=True)
class Lands:
    """A hunk that lands, or whose text is there: the files after it, and what is told of it."""

    before: dict[str, str]
    hunk: Hunk
    after: dict[str, str]
    lines: tuple[int, int]
    status: Status = Status.APPLIED
    action: Action = Action.UPDATE
    rung: Rung = Rung.EXACT
    moved_to: str | None = None


LANDING = [
    Lands({"f": ABC}, update("f", "-b", "+B"), {"f": "a\nB\nc\n"}, (2, 3)),
    Lands({"f": ABC}, update("f", " a", "+x", "+y", " b"), {"f": "a\nx\ny\nb\nc\n"}, (2, 4)),
    Lands({"f": ABC}, update("f", "-b"), {"f": "a\nc\n"}, (2, 2)),
    Lands(
        {"f": "a\n  b\n"},
        update("f", "-b", "+B"),
        {"f": "a\n  B\n"},
        (2, 3),
        Status.APPLIED_FUZZY,
        rung=Rung.INDENT,
    ),
    # Text that is there already.
    Lands({"f": "a\nnew\nc\n"}, update("f", " a", "-b", "+new", " c"), {}, (1, 4), Status.ALREADY_APPLIED),
    Lands({"f": "top\na\nnew\n"}, update("f", "-b", "+a", "+new"), {}, (2, 4), Status.ALREADY_APPLIED),
    Lands({"f": ABC}, update("f", " a", " b"), {}, (1, 3), Status.ALREADY_APPLIED),
    Lands({"f": "top\na\nb\n"}, update("f", " a", " b"), {}, (2, 4), Status.ALREADY_APPLIED),
    # New files.
    Lands({}, add("n", "x", "y"), {"n": "x\ny\n"}, (1, 3), action=Action.ADD),
    Lands({}, add("deep/er/n", "x"), {"deep/er/n": "x\n"}, (1, 2), action=Action.ADD),
    Lands({"n": ""}, add("n", "x"), {"n": "x\n"}, (1, 2), action=Action.ADD),
    Lands({"n": "x\ny\n"}, add("n", "x", "y"), {}, (1, 3), Status.ALREADY_APPLIED, Action.ADD),
    Lands({"n": ""}, add("n"), {}, (1, 1), Status.ALREADY_APPLIED, Action.ADD),
    Lands({}, whole("n", "x"), {"n": "x\n"}, (1, 2), action=Action.ADD),
    Lands({"n": ABC}, whole("n", "a", "x", "c"), {"n": "a\nx\nc\n"}, (2, 3)),
    Lands({"n": "a\r\nb\r\n"}, whole("n", "a", "c"), {"n": "a\r\nc\r\n"}, (2, 3)),
    # Moves.
    Lands({"f": ABC}, move("f", "to/g"), {"to/g": ABC}, (1, 1), action=Action.MOVE, moved_to="to/g"),
    Lands(
        {"f": ABC},
        move("f", "g", "-b", "+B"),
        {"g": "a\nB\nc\n"},
        (2, 3),
        action=Action.MOVE,
        moved_to="g",
    ),
    Lands({"f": ABC}, move("f", "f", "-b", "+B"), {"f": "a\nB\nc\n"}, (2, 3), action=Action.MOVE),
    # Deletions.
    Lands({"f": ABC}, delete("f"), {"f": "gone"}, (0, 0), action=Action.DELETE),
    Lands({"f": ABC}, delete("f", "-a", "-b", "-c"), {"f": "gone"}, (0, 0), action=Action.DELETE),
]


def _after(case: Lands) -> dict[str, str]:
    gone = {case.hunk.path} if case.moved_to or "gone" in case.after.values() else set[str]()
    return {name: text for name, text in {**case.before, **case.after}.items() if name not in gone}


@pytest.mark.parametrize("case", LANDING, ids=lambda case: f"{case.hunk.action} {case.lines} {case.status}")
def test_a_hunk_lands_and_is_undone(project: Project, case: Lands) -> None:
    project.write(case.before)
    weighed = project.landing.weigh(case.hunk, hunk_id="h1")
    assert project.read() == case.before and project.ledger.entries() == []
    landed = project.landing.land(case.hunk, hunk_id="h1")
    assert isinstance(landed, Landed), landed
    assert landed == weighed
    assert (landed.start, landed.end) == case.lines
    assert (landed.hunk, landed.path, landed.status) == ("h1", case.hunk.path, case.status)
    assert (landed.action, landed.rung, landed.moved_to) == (case.action, case.rung, case.moved_to)
    assert project.read() == _after(case)
    if case.status is Status.ALREADY_APPLIED:
        assert project.ledger.entries() == []
        return
    assert [entry.hunk for entry in project.ledger.entries()] == ["h1"]
    assert isinstance(project.landing.undo("h1"), Landed)
    # An empty file that a hunk filled was not there for it: its undo takes the file away or empties it.
    assert {name: text for name, text in project.read().items() if text} == {
        name: text for name, text in case.before.items() if text
    }


@pytest.mark.parametrize(
    ("before", "hunk", "code", "said"),
    [
        ({}, update("f", "-b"), RefusalCode.MISSING_FILE, "f does not exist"),
        ({}, delete("f"), RefusalCode.MISSING_FILE, "f does not exist"),
        ({}, move("f", "g"), RefusalCode.MISSING_FILE, "f does not exist"),
        ({"x/name.py": "b\n"}, delete("name.py"), RefusalCode.MISSING_FILE, "did you mean x/name.py?"),
        ({"f": ABC}, update("f", "-q"), RefusalCode.NO_MATCH, "nothing similar"),
        ({"f": "b\nb\n"}, update("f", "-b"), RefusalCode.AMBIGUOUS, "lines 1, 2"),
        ({"f": "\0b\n"}, update("f", "-b"), RefusalCode.BINARY, "f is binary"),
        (
            {"f": "a = 1\nb = 2\n".encode("utf-16-le").decode("latin-1")},
            update("f", "-b"),
            RefusalCode.BINARY,
            "utf-16-le without a byte order mark",
        ),
        ({"f": ABC}, delete("f", "-a", "-b"), RefusalCode.NO_MATCH, "differs from what the edit deletes"),
        ({"f": ABC, "g": "x\n"}, move("f", "g"), RefusalCode.EXISTS, "g exists already: f cannot be moved"),
        ({"f": ABC}, move("f", "g", "-q"), RefusalCode.NO_MATCH, "nothing similar"),
        ({"f": ABC}, add("f", "x"), RefusalCode.EXISTS, "f exists already: it cannot be added"),
        (
            {"f": ABC},
            add("f", "x", format=Format.SEARCH_REPLACE),
            RefusalCode.EXISTS,
            "an empty SEARCH is for a new file",
        ),
        ({}, add("f", "\ud800"), RefusalCode.MALFORMED, "contains U+D800"),
        ({}, update("../f", "-b"), RefusalCode.OUTSIDE_PROJECT, "outside the project"),
        ({"f/g": "x\n"}, update("f", "-b"), RefusalCode.IO, "f is a folder"),
    ],
)
def test_a_hunk_is_refused_and_nothing_is_written(
    project: Project, before: dict[str, str], hunk: Hunk, code: RefusalCode, said: str
) -> None:
    project.write(before)
    for result in (
        project.landing.weigh(hunk, hunk_id="h1"),
        project.landing.land(hunk, hunk_id="h1", dry_run=True),
        project.landing.land(hunk, hunk_id="h1"),
    ):
        assert isinstance(result, Refused) and (result.hunk, result.code) == ("h1", code)
        assert said in result.message
    assert project.read() == before and project.ledger.entries() == []


def test_a_file_with_other_text_is_replaced_by_an_added_one_only_if_that_is_allowed(project: Project) -> None:
    project.write({"f": "a\r\nb\r\n"})
    hunk = add("f", "a", "c")
    asking = Landing(project.root, project.ledger, protection=Protection(overwrites=True))
    held = asking.land(hunk, hunk_id="h1")
    assert isinstance(held, Held) and held.guards == (Guard.OVERWRITES,)
    assert isinstance(project.landing.land(hunk, hunk_id="h1", allow={Guard.RUNS}), Refused)
    assert project.read() == {"f": "a\r\nb\r\n"}
    landed = asking.land(hunk, hunk_id="h1", allow={Guard.OVERWRITES})
    assert isinstance(landed, Landed) and (landed.start, landed.end) == (2, 3)
    assert project.read() == {"f": "a\r\nc\r\n"}
    assert isinstance(project.landing.undo("h1"), Landed) and project.read() == {"f": "a\r\nb\r\n"}


def test_an_added_file_that_is_there_with_the_same_text_is_not_touched(project: Project) -> None:
    """Neither the guards nor the ledger hear of it: there is nothing to write."""
    project.write({"n.py": "x = 1\ny = 2\n"})
    before = (project.root / "n.py").stat()
    guarded = Landing(project.root, project.ledger, protection=Protection(Locks(paths=("n.py",))))
    landed = guarded.land(add("n.py", "x = 1", "y = 2"), hunk_id="h1")
    assert isinstance(landed, Landed) and landed.status is Status.ALREADY_APPLIED
    assert (landed.start, landed.end) == (1, 3)
    after = (project.root / "n.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert project.ledger.entries() == [] and isinstance(project.landing.undo(), Refused)


def test_an_added_file_may_have_no_final_newline(project: Project) -> None:
    hunk = Hunk("n", Action.ADD, Format.JSON, body("+a"), replacement=Replacement("", "a"))
    assert isinstance(project.landing.land(hunk, hunk_id="h1"), Landed)
    assert project.read() == {"n": "a"}
    again = project.landing.land(hunk, hunk_id="h2")
    assert isinstance(again, Landed) and again.status is Status.ALREADY_APPLIED


def test_a_new_file_has_the_line_endings_of_its_hunk(project: Project) -> None:
    hunk = Hunk("n", Action.ADD, Format.V4A, body("+a", "+b"), newline="\r\n")
    assert isinstance(project.landing.land(hunk, hunk_id="h1"), Landed)
    assert project.read() == {"n": "a\r\nb\r\n"}


@pytest.mark.parametrize(
    ("before", "hunk", "after"),
    [
        (None, add("n", "a", "b"), "a\r\nb\r\n"),
        ("", add("n", "a", "b"), "a\r\nb\r\n"),
        ("a\nb\n", add("n", "a", "b"), "a\nb\n"),
        (None, replace(add("n", "a", "b"), made=True), "a\nb\n"),
        (None, replace(add("n", "a", "b"), replacement=Replacement("", "a\r\nb\n")), "a\r\nb\r\n"),
    ],
)
def test_git_says_which_line_endings_a_new_file_has_but_not_what_a_program_made(
    project: Project, before: str | None, hunk: Hunk, after: str
) -> None:
    class Rules(NoGitRules):
        def newline(self, path: str) -> str | None:
            return "\r\n"

    project.write({} if before is None else {"n": before})
    landing = Landing(project.root, project.ledger, git=Rules())
    assert isinstance(landing.land(hunk, hunk_id="h1"), Landed)
    assert project.read() == {"n": after}


def test_an_empty_search_is_read_in_its_other_ways_where_the_file_has_text(project: Project) -> None:
    project.write({"f": "x\nq\nz\n"})
    others = (body("-nowhere", "+y"), body("-q", "+y"))
    hunk = Hunk("f", Action.ADD, Format.SEARCH_REPLACE, body("+x"), alternatives=others)
    landed = project.landing.land(hunk, hunk_id="h1")
    assert isinstance(landed, Landed) and landed.action is Action.UPDATE
    assert project.read() == {"f": "x\ny\nz\n"}


@pytest.mark.parametrize(
    ("hunk", "lands"),
    [
        (update("f", "-b", "+B"), False),
        (add("f", "x"), False),
        (delete("f"), False),
        (move("f", "g"), False),
        (move("f", "g", "-b", "+B"), False),
        (update("f", "-q", "+b"), True),
    ],
)
def test_a_read_only_file_is_refused_unless_nothing_is_to_be_written(
    project: Project, hunk: Hunk, lands: bool
) -> None:
    project.write({"f": ABC})
    (project.root / "f").chmod(0o444)
    landing = Landing(project.root, project.ledger, protection=Protection(overwrites=True))
    result = landing.land(hunk, hunk_id="h1", allow={Guard.OVERWRITES})
    assert isinstance(result, Landed) == lands
    if isinstance(result, Refused):
        assert result.code is RefusalCode.LOCKED and "read-only" in result.message
        assert result.by is RefusedBy.DISK
    assert project.read() == {"f": ABC} and project.ledger.entries() == []


def test_a_read_only_file_is_refused_where_it_is_searched_as_bytes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_files, "LARGE", 1)
    project.write({"f": "some words\n"})
    (project.root / "f").chmod(0o444)
    result = project.landing.land(update("f", "-some words", "+x"), hunk_id="h1")
    assert isinstance(result, Refused) and result.code is RefusalCode.LOCKED
    assert project.read() == {"f": "some words\n"}


def test_an_empty_read_only_file_is_not_filled(project: Project) -> None:
    project.write({"f": ""})
    (project.root / "f").chmod(0o444)
    result = project.landing.land(add("f", "x"), hunk_id="h1")
    assert isinstance(result, Refused) and result.code is RefusalCode.LOCKED


@pytest.mark.parametrize(
    ("hunk", "said"),
    [
        (delete("link"), "link is a symbolic link, which edits do not delete"),
        (move("link", "g"), "which edits do not move"),
        (move("f", "link"), "which edits do not move"),
    ],
)
def test_a_link_is_not_deleted_or_moved(project: Project, hunk: Hunk, said: str) -> None:
    project.write({"f": ABC})
    (project.root / "link").symlink_to("f")
    result = project.landing.land(hunk, hunk_id="h1")
    assert isinstance(result, Refused) and result.code is RefusalCode.IO and said in result.message
    assert (project.root / "link").is_symlink() and (project.root / "f").read_text() == ABC


def test_a_file_that_is_off_limits_is_refused_by_each_of_its_names(project: Project) -> None:
    project.write({"own/key": "b\n"})
    (project.root / "link").symlink_to("own/key")
    os.link(project.root / "own/key", project.root / "hard")
    landing = Landing(project.root, project.ledger, off_limits=OffLimits([project.root / "own"]))
    for hunk in (update("own/key", "-b"), update("link", "-b"), update("hard", "-b"), move("f", "own/g")):
        (project.root / "f").write_text("f\n")
        result = landing.land(hunk, hunk_id="h1")
        assert isinstance(result, Refused) and result.code is RefusalCode.OUTSIDE_PROJECT, hunk
        foreseen = landing.foresee(hunk.move_to or hunk.path)
        assert foreseen is not None and foreseen.code is RefusalCode.OUTSIDE_PROJECT
        assert (foreseen.hunk, foreseen.path) == ("", hunk.move_to or hunk.path)
    unread = whole("own/key", "b", "c")
    assert landing.divide(unread, "") == (unread,) and landing.meant(unread) is None
    assert (project.root / "own/key").read_text() == "b\n"


def test_in_place_of_a_file_that_is_off_limits_no_other_of_its_name_is_edited(project: Project) -> None:
    project.write({"f": ABC})
    (project.root / "own").mkdir()
    landing = Landing(
        project.root, project.ledger, files=project.read, off_limits=OffLimits([project.root / "own"])
    )
    hunk = replace(update("own/f", "-b", "+B"), shown=("f",))
    assert isinstance(landing.land(hunk, hunk_id="h1"), Refused)
    assert project.read() == {"f": ABC}
    landed = landing.land(replace(hunk, path="other/f"), hunk_id="h2")
    assert isinstance(landed, Landed) and (landed.path, landed.typed) == ("f", "other/f")
    project.write({"own/f": ABC, "g": ABC})
    landed = landing.land(replace(hunk, path="g", names=("own/f", "g")), hunk_id="h3")
    assert isinstance(landed, Landed) and (landed.path, landed.typed) == ("g", "")


def test_what_holds_any_hunk_for_a_file_is_foreseen(project: Project) -> None:
    project.write({"kept": ABC, "free": ABC})
    assert project.landing.foresee("kept") is None
    project.landing.protection = Protection(Locks(paths=("kept",)))
    held = project.landing.foresee("kept")
    assert isinstance(held, Held) and (held.hunk, held.path) == ("", "kept")
    assert project.landing.foresee("free") is None


def test_the_likely_file_that_holds_the_text_is_named_before_the_likeliest(project: Project) -> None:
    project.write({"x/mod.py": "other\n", "yyyyyy/mod.py": "text here\n"})
    named = project.landing.land(update("x/y/mod.py", "-text here", "+t"), hunk_id="h1")
    assert isinstance(named, Refused)
    assert named.message.endswith("did you mean yyyyyy/mod.py? The text is there")
    unnamed = project.landing.land(update("x/y/mod.py", "-nothing", "+t"), hunk_id="h2")
    assert isinstance(unnamed, Refused) and unnamed.message.endswith("did you mean x/mod.py?")


def test_a_link_that_leads_back_to_itself_is_named(project: Project) -> None:
    (project.root / "f").symlink_to("f")
    refused = project.landing.land(update("f", "-a", "+b"), hunk_id="h1")
    assert (
        isinstance(refused, Refused) and refused.message == "f is a symbolic link that leads back to itself"
    )


def test_an_insertion_lands_again_once_it_was_undone(project: Project) -> None:
    project.write({"f": ABC})
    hunk = update("f", " a", "+x")
    statuses = []
    for name in ("h1", "h2"):
        landed = project.landing.land(hunk, hunk_id=name)
        assert isinstance(landed, Landed)
        statuses.append(landed.status)
    assert statuses == [Status.APPLIED, Status.ALREADY_APPLIED]
    assert project.read() == {"f": "a\nx\nb\nc\n"}
    assert isinstance(project.landing.undo("h1"), Landed)
    landed = project.landing.land(hunk, hunk_id="h3")
    assert isinstance(landed, Landed) and landed.status is Status.APPLIED
    assert project.read() == {"f": "a\nx\nb\nc\n"}


def test_another_hunk_may_insert_text_that_is_there(project: Project) -> None:
    """Only a hunk that is sent twice is known to have landed: this one repeats a line of the file itself."""
    project.write({"f": "a\nx\nb\n"})
    landed = project.landing.land(update("f", " a", "+x"), hunk_id="h1")
    assert isinstance(landed, Landed) and landed.status is Status.APPLIED
    assert project.read() == {"f": "a\nx\nx\nb\n"}
