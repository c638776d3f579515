"""Where hunks are now, where they would go, and which of them lean on which: files, hunks, answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, Refused, Replacement
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project

ABC = "a\nb\nc\nd\ne\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def body(*lines: str) -> tuple[HunkLine, ...]:
    return tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)


def update(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.UPDATE, Format.V4A, body(*lines))


def add(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.ADD, Format.V4A, tuple(HunkLine(LineKind.NEW, line) for line in lines))


def move(path: str, to: str, *lines: str) -> Hunk:
    return Hunk(path, Action.MOVE, Format.V4A, body(*lines), move_to=to)


def delete(path: str) -> Hunk:
    return Hunk(path, Action.DELETE, Format.V4A)


def land(project: Project, *hunks: Hunk) -> None:
    """Land the hunks as h1, h2 and so on."""
    for number, hunk in enumerate(hunks, 1):
        result = project.landing.land(hunk, hunk_id=f"h{number}")
        assert isinstance(result, Landed), result


@pytest.mark.parametrize(
    ("hunks", "where"),
    [
        ([update("f", "-b", "+B")], {"h1": ("f", 2, 3)}),
        ([update("f", "-b", "+B", "+BB", " c", "-d")], {"h1": ("f", 2, 5)}),
        ([update("f", "-b")], {"h1": ("f", 2, 2)}),
        ([update("f", "-d", "+D"), update("f", " a", "+x", "+y")], {"h1": ("f", 6, 7), "h2": ("f", 2, 4)}),
        ([update("f", "-d", "+D"), update("f", "-a")], {"h1": ("f", 3, 4), "h2": ("f", 1, 1)}),
        ([add("n", "x", "y"), update("n", " y", "+z")], {"h1": ("n", 1, 3), "h2": ("n", 3, 4)}),
        ([add("n", "x"), update("n", "-x", "+y", "+z")], {"h1": ("n", 1, 1), "h2": ("n", 1, 3)}),
        ([add("n", "x", "y"), update("n", " x", "+z", " y")], {"h1": ("n", 1, 4), "h2": ("n", 2, 3)}),
        ([add("n", "x", "y"), move("n", "m")], {"h1": ("m", 1, 3), "h2": ("m", 0, 0)}),
        ([add("n"), update("n", "+z")], {"h1": ("n", 0, 0), "h2": ("n", 1, 2)}),
        (
            [delete("f"), add("f", "x", "y"), update("f", "-y")],
            {"h1": ("f", 0, 0), "h2": ("f", 1, 2), "h3": ("f", 2, 2)},
        ),
        ([update("f", "-d", "+D"), move("f", "to/g")], {"h1": ("to/g", 4, 5), "h2": ("to/g", 0, 0)}),
        (
            [update("f", "-d", "+D"), move("f", "g", " a", "+x", " b"), update("g", " x", "+y")],
            {"h1": ("g", 6, 7), "h2": ("g", 2, 3), "h3": ("g", 3, 4)},
        ),
        ([update("f", "-d", "+D"), delete("f")], {}),
    ],
)
def test_where_hunks_are_after_later_ones(
    project: Project, hunks: list[Hunk], where: dict[str, tuple[str, int, int]]
) -> None:
    """A hunk whose lines are given as 0 changes a file as a whole: only its file is looked at."""
    project.write({"f": ABC})
    land(project, *hunks)
    found = project.landing.where([f"h{number}" for number in range(1, len(hunks) + 1)])
    told = {name: place if where[name][1] else (place[0], 0, 0) for name, place in found.items()}
    assert told == where


def test_where_leaves_out_only_what_was_not_asked_or_is_nowhere(project: Project) -> None:
    names = ("a", "b", "c", "d", "e")
    project.write(dict.fromkeys(names, ABC))
    land(project, *(update(name, "-b", "+B") for name in names))
    assert isinstance(project.landing.undo("h1"), Landed)
    (project.root / "b").unlink()
    (project.root / "c").write_text("\0")
    (project.root / "d").write_text("mine\n" + (project.root / "d").read_text())
    assert project.landing.where(["h1", "h2", "h3", "h4", "h9"]) == {"h4": ("d", 3, 4)}
    assert project.landing.where(["h5"]) == {"h5": ("e", 2, 3)}
    assert isinstance(project.landing.redo("h1"), Landed)
    assert project.landing.where(["h1"]) == {"h1": ("a", 2, 3)}


@pytest.mark.parametrize(
    ("hunks", "ranges"),
    [
        ([update("f", "-d", "+D", "+DD"), update("f", " a", "+x")], {"h1": ("f", 5, 7), "h2": ("f", 2, 3)}),
        ([update("f", "-d", "+D"), move("f", "g", " a", "+x"), update("g", "-a")], {"h1": ("f", 4, 5)}),
        ([update("f", "-d", "+D"), update("f", "-b", "-c", "-D", "+x")], {"h1": ("f", 2, 3)}),
        ([update("f", "-a", "+A"), update("f", " d", "+x")], {"h1": ("f", 1, 2), "h2": ("f", 5, 6)}),
    ],
)
def test_recorded_ranges_follow_later_hunks_through_moves(
    project: Project, hunks: list[Hunk], ranges: dict[str, tuple[str, int, int]]
) -> None:
    project.write({"f": ABC, "other": ABC})
    land(project, *hunks, update("other", " a", "+x"))
    records = {record.id: record for record in project.ledger.hunks()}
    assert {name: (records[name].path, records[name].start, records[name].end) for name in ranges} == ranges


def test_a_record_tells_what_became_of_a_hunk(project: Project) -> None:
    project.write({"f": ABC})
    land(project, update("f", "-b", "+B"), move("f", "g"), update("g", "-B", "+BB"))
    assert isinstance(project.landing.undo("h3"), Landed)
    told = [(one.id, one.path, one.moved_from, one.state, one.action) for one in project.ledger.hunks()]
    assert told == [
        ("h1", "f", None, "landed", Action.UPDATE),
        ("h2", "g", "f", "landed", Action.MOVE),
        ("h3", "g", None, "undone", Action.UPDATE),
    ]


@pytest.mark.parametrize(
    ("hunks", "leaning"),
    [
        ([update("f", "-b", "+B")], []),
        ([update("f", "-b", "+B"), update("f", "-d", "+D")], []),
        ([update("f", "-b", "+B"), update("f", "-B", "+BB")], ["h2"]),
        ([update("f", "-b", "+B"), update("f", "-B", "+BB"), update("f", "-BB", "+C")], ["h2"]),
        ([update("f", "-b", "+x", "+y"), update("f", " x", "+z", " y")], ["h2"]),
        ([update("f", "-b", "+x"), update("f", "-b", "+y")], None),
        ([add("n", "x"), update("n", " x", "+y"), update("f", "-b")], ["h2"]),
        ([delete("f"), add("f", "x"), update("f", "-x", "+y")], ["h2", "h3"]),
        ([move("f", "g"), update("g", "-b", "+B"), add("f", "x")], ["h2"]),
        ([move("f", "g"), move("g", "h"), update("h", "-b")], ["h2"]),
        ([update("f", "-b", "+B"), move("f", "g"), update("g", "-B", "+BB")], ["h3"]),
    ],
)
def test_which_hunks_lean_on_the_first(
    project: Project, hunks: list[Hunk], leaning: list[str] | None
) -> None:
    project.write({"f": ABC})
    if leaning is None:
        land(project, hunks[0])
        assert isinstance(project.landing.land(hunks[1], hunk_id="h2"), Refused)
        leaning = []
    else:
        land(project, *hunks)
    assert project.landing.leaning("h1") == frozenset(leaning)
    fresh = Landing(project.root, Ledger(project.folder / "ledger"))
    assert fresh.leaning("h1") == frozenset(leaning)


def test_nothing_leans_on_a_hunk_that_is_undone_or_unknown(project: Project) -> None:
    project.write({"f": ABC})
    land(project, update("f", "-b", "+B"), update("f", "-B", "+BB"))
    assert isinstance(project.landing.undo("h2"), Landed)
    assert project.landing.leaning("h1") == frozenset()
    assert isinstance(project.landing.undo("h1"), Landed)
    assert isinstance(project.landing.redo("h2"), Refused)
    assert project.landing.leaning("h1") == project.landing.leaning("h9") == frozenset()


def test_an_added_file_that_lands_again_is_where_it_was(project: Project) -> None:
    land(project, add("n", "x", "y"), update("n", "-y", "+z"))
    assert project.landing.leaning("h1") == {"h2"}
    assert isinstance(project.landing.undo("h2"), Landed)
    assert project.landing.leaning("h1") == frozenset(), "what is undone leans on nothing"
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.landing.where(["h1"]) == {}
    assert isinstance(project.landing.redo("h1"), Landed)
    assert project.landing.where(["h1", "h2"]) == {"h1": ("n", 1, 3)}
    (project.root / "n").write_text("mine\nx\ny\n")
    assert project.landing.where(["h1"]) == {"h1": ("n", 2, 4)}


def test_what_leans_on_an_added_file_is_known_where_its_content_is_lost(project: Project) -> None:
    project.write({"f": ABC})
    land(project, update("f", "-b", "+B"))
    (project.root / "f").write_text("mine\n" + (project.root / "f").read_text())
    again = project.landing.land(update("f", "-d", "+D"), hunk_id="h2")
    assert isinstance(again, Landed)
    for blob in (project.folder / "ledger/blobs").glob("??/*"):
        blob.unlink()
    fresh = Landing(project.root, Ledger(project.folder / "ledger"))
    assert fresh.leaning("h1") == frozenset()


def test_lines_are_aimed_at_the_file_as_it_is_now(project: Project) -> None:
    project.write({"f": ABC})
    path = project.root / "f"
    assert project.landing.aim("f", ["b", "c"]) == (2, 4)
    before = path.stat()
    path.write_text("x\nb\nc\nd\nb\n")  # of the same size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert project.landing.aim("f", ["b"]) is None and project.landing.aim("f", ["b", "c"]) == (2, 4)
    other = project.root / "other"
    other.write_text("b\na\nc\nd\ne\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    other.replace(path)  # another file with the same time and size
    assert project.landing.aim("f", ["b"]) == (1, 2)
    path.unlink()
    assert project.landing.aim("f", ["b"]) is None


def test_a_whole_hunk_is_aimed_only_at_the_lines_that_it_shows(project: Project) -> None:
    project.write({"f": "begin()\none\ntwo\nend()\n    deep\n"})
    aim = project.landing.aim_whole
    assert aim(update("f", " begin()", "-one", "+x")) == (1, 3)
    assert aim(update("f", " begin()", " ...", "-end()", "+x")) is None
    assert aim(move("f", "g", "-deep", "+x")) == (5, 6)
    by_text = Hunk("f", Action.UPDATE, Format.JSON, body("-begi", "+x"), replacement=Replacement("begi", "x"))
    assert aim(by_text) is None
    assert aim(update("f", "+at the end")) == (6, 6)
    assert aim(Hunk("f", Action.DELETE, Format.V4A, body("-begin()", "-nothing"))) is None
