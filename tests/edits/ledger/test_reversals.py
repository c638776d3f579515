"""Undo in a file that was changed since: before, the hunk, what somebody wrote, after the undo."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from edits.checked_lines import to_line
from edits.files.text import FileError
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from edits.ledger.undo import carry
from tests.edits.helpers import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def update(*lines: str, path: str = "f") -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


def land(project: Project, *hunks: Hunk) -> None:
    for number, hunk in enumerate(hunks, 1):
        assert isinstance(project.landing.land(hunk, hunk_id=f"h{number}"), Landed)


@pytest.mark.parametrize(
    ("before", "hunk", "written", "undone"),
    [
        # Elsewhere, above and below.
        ("a\nb\nc\n", update("-b", "+B"), "top\na\nB\nc\n", "top\na\nb\nc\n"),
        ("a\nb\nc\n", update("-b", "+B"), "B\nc\n", "b\nc\n"),
        ("a\nb\nc\n", update("-b"), "a\nc\nend\n", "a\nb\nc\nend\n"),
        ("a\nb\nc\n", update(" a", "+x", "+y"), "a\nx\ny\nb\nc\nd\n", "a\nb\nc\nd\n"),
        # Its own lines.
        ("a\nb\nc\n", update("-b", "+B"), "a\nmine\nc\n", None),
        ("a\nb\nc\n", update("-b", "+B"), "a\nc\n", None),
        ("a\nb\nc\n", update(" a", "+x", "+y"), "a\nx\nmine\ny\nb\nc\n", None),
        ("a\nb\nc\n", update(" a", "+x", "+y"), "a\nx\nb\nc\n", None),
        # The end of the file, with and without its newline.
        ("a\nb\n", update("-b", "+B"), "a\nB", None),
        ("a\nb", update("-b", "+B"), "a\nB\n", None),
        ("a\nb\n", update(" b", "+c"), "a\nb\nc", None),
        ("a\nb", update(" b", "+c"), "a\nb\nc\n", None),
        ("a\nb\n", update("-b"), "a", "a\nb"),
        ("a\nb", update("-b"), "a", "a\nb"),
        ("a\nb", update("-b"), "a\n", "a\nb"),
        ("a\nb\n", update("-b"), "a\nmine\n", "a\nb\nmine\n"),
        ("a\nb\n", update("-b"), "a\nmine", "a\nb\nmine"),
        ("a\r\nb\r\n", update("-b", "+B"), "a\nB\n", None),
        ("a\nb\nc\n", update("-b", "+B", "+C"), "a\nB\r\nC\nc\n", None),
        ("a\nb\n", update("-a", "-b", "+x"), "x\nmine\n", "a\nb\nmine\n"),
        ("a\nb", replace(update(" b"), final_newline=True), "top\na\nb\n", "top\na\nb"),
        ("a\nb\n", replace(update(" b"), final_newline=False), "top\na\nb", "top\na\nb\n"),
        # At the end of a file without its newline, where somebody wrote on.
        ("a", update("-a"), "x\n", "a\nx\n"),
        ("a\nb", update(" a", "-b"), "a\nx\ny", "a\nb\nx\ny"),
        ("a", update("-a", "+b"), "b\nx", None),
        # Of its own lines, where what is left still tells which they were.
        ("c\nb\nc\nd\n", update("-b", "-c", "+y", "+b", " d"), "c\nb\nd\n", "c\nb\nc\nd\n"),
        ("d\na\nd\n", update("-a", "-d", "+y", "+a"), "d\na\n", "d\na\nd\n"),
        ("a\nb\nc\nb\n", update("-a", "+A", " b", "-c", "+C"), "top\nA\nb\nC\nb\n", "top\na\nb\nc\nb\n"),
    ],
)
def test_an_undo_beside_what_somebody_wrote(
    project: Project, before: str, hunk: Hunk, written: str, undone: str | None
) -> None:
    project.write({"f": before})
    land(project, hunk)
    project.write({"f": written})
    result = project.landing.undo("h1")
    if undone is None:
        assert isinstance(result, Refused) and result.code is RefusalCode.CONFLICT
        assert project.read() == {"f": written}
    else:
        assert isinstance(result, Landed), result
        assert project.read() == {"f": undone}


@pytest.mark.parametrize(
    ("steps", "name", "said"),
    [
        (["-b +B", "-B +C"], "h1", "its lines were changed by h2 since: undo h2 first; nothing was touched"),
        (["-b +B", "delete"], "h1", "f was deleted by h2: undo h2 first"),
        (["-b +B", "gone"], "h1", "f is gone"),
        (["delete", "again"], "h1", "f exists again: it is not overwritten"),
        (["move g", "move h"], "h1", "the file was moved again by h2: undo h2 first"),
        (["move g", "again"], "h1", "f exists again: the move cannot be undone"),
        (["add n", "-x +y in n"], "h2", None),
        (["add n", "-x +y in n"], "h1", "n was changed since it was added (by h2); it is not deleted"),
        (["add n", "user n"], "h1", "n was changed since it was added; it is not deleted"),
        ([], None, "there is no hunk to undo in this project"),
        ([], "h1", "this project has no hunk h1 that landed"),
        (["-b +B"], "h9", "this project has no hunk h9 that landed"),
    ],
)
def test_why_an_undo_is_refused(
    project: Project, steps: list[str], name: str | None, said: str | None
) -> None:
    project.write({"f": "a\nb\nc\n"})
    at, number = "f", 0
    for step in steps:
        number += 1
        words = step.split()
        match words[0]:
            case "delete":
                hunk = Hunk(at, Action.DELETE, Format.V4A)
            case "move":
                hunk = Hunk(at, Action.MOVE, Format.V4A, move_to=words[1])
                at = words[1]
            case "add":
                hunk = Hunk(words[1], Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "x"),))
            case "gone":
                (project.root / "f").unlink()
                continue
            case "again" | "user":
                project.write({words[-1] if words[0] == "user" else "f": "mine\n"})
                continue
            case _:
                hunk = update(words[0], words[1], path=words[-1] if "in" in words else "f")
        assert isinstance(project.landing.land(hunk, hunk_id=f"h{number}"), Landed)
    before = project.read()
    result = project.landing.undo(name)
    if said is None:
        assert isinstance(result, Landed)
    else:
        assert isinstance(result, Refused) and result.message == said
        assert result.hunk == (name or "") and project.read() == before


def test_what_can_be_undone_and_redone_next_is_the_latest_change(project: Project) -> None:
    project.write({"f": "a\nb\nc\n"})
    land(project, update("-a", "+A"), update("-b", "+B"), update("-c", "+C"))
    undo, redo = project.landing.undo, project.landing.redo
    assert isinstance(redo(), Refused)
    assert [undo("h2").hunk, undo().hunk, redo().hunk, undo().hunk, undo().hunk] == [
        "h2",
        "h3",
        "h3",
        "h3",
        "h1",
    ]
    assert project.read() == {"f": "a\nb\nc\n"}
    again = redo("h2")
    assert isinstance(again, Landed)
    twice = redo("h2")
    assert isinstance(twice, Refused) and twice.message == "hunk h2 is not undone" and twice.path == "f"
    assert isinstance(undo("h2"), Landed)
    undone = undo("h2")
    assert isinstance(undone, Refused) and undone.message == "hunk h2 is undone already"


def test_a_hunk_for_the_new_name_of_a_moved_file_is_undone_before_and_after_the_move(
    project: Project,
) -> None:
    """The hunk belongs to the file, whatever its name is when the hunk is undone."""
    project.write({"old": "a\nb\nc\n"})
    moves = (
        update("-a", "+A", path="old"),
        Hunk("old", Action.MOVE, Format.V4A, move_to="new"),
        update("-b", "+B", path="new"),
        Hunk("new", Action.MOVE, Format.V4A, move_to="newest"),
        update("-c", "+C", path="newest"),
    )
    land(project, *moves)
    assert [record.path for record in project.ledger.hunks()] == ["old", "new", "new", "newest", "newest"]
    assert project.landing.where(["h1", "h3", "h5"]) == {
        "h1": ("newest", 1, 2), "h3": ("newest", 2, 3), "h5": ("newest", 3, 4)
    }  # fmt: skip
    undone = project.landing.undo("h3")
    assert isinstance(undone, Landed) and undone.path == "newest"
    assert project.read() == {"newest": "A\nb\nC\n"}
    assert isinstance(project.landing.undo("h4"), Landed)
    assert project.read() == {"new": "A\nb\nC\n"}
    assert isinstance(project.landing.undo("h5"), Landed)
    assert isinstance(project.landing.redo("h3"), Landed)
    assert project.read() == {"new": "A\nB\nc\n"}
    assert isinstance(project.landing.undo("h2"), Landed)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read() == {"old": "a\nB\nc\n"}


@pytest.mark.parametrize("undone", list(permutations(("h1", "h2", "h3"))))
def test_hunks_before_and_after_a_move_are_undone_and_land_again_in_any_order(
    tmp_path: Path, undone: tuple[str, ...]
) -> None:
    """The lines that they removed are beside each other: only the file's whole history tells their order."""
    hunks = (
        update("-b", path="f"),
        Hunk("f", Action.MOVE, Format.V4A, move_to="g"),
        update("-c", path="g"),
    )
    for again in permutations(undone):
        project = Project(tmp_path / "-".join(again))
        project.write({"f": "a\nb\nc\nd\n"})
        land(project, *hunks)
        for hunk in undone:
            assert isinstance(project.landing.undo(hunk), Landed), hunk
        assert project.read() == {"f": "a\nb\nc\nd\n"}
        for hunk in again:
            assert isinstance(project.landing.redo(hunk), Landed), hunk
        assert project.read() == {"g": "a\nd\n"}
        where = project.landing.where(["h1", "h3"])
        assert where == {"h1": ("g", 2, 2), "h3": ("g", 2, 2)}


def test_a_content_built_from_a_wrong_record_is_refused_by_its_hash(project: Project) -> None:
    project.write({"f": "a\nb\nc\n"})
    land(project, update("-b", "+B"), update("-B", "+BB"))
    first, second = project.ledger.entries()
    assert first.after is not None and second.after is not None
    assert project.ledger.content(second.after) == b"a\nBB\nc\n"
    journal = project.folder / "ledger/hunks.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    for record in records:
        record.pop("sum", None)
        if record.get("hunk") == "h1":
            record["splices"] = [[1, "b\n", "other\n"]]
    journal.write_bytes(b"".join(map(to_line, records)))
    ledger = Ledger(project.folder / "ledger")
    assert len(ledger.entries()) == 2
    for sha256 in (first.after, second.after):
        with pytest.raises(FileError, match="its hash is wrong"):
            ledger.content(sha256)
    project.write({"f": "mine\na\nBB\nc\n"})
    result = Landing(project.root, ledger).undo("h2")
    assert isinstance(result, Refused) and project.read() == {"f": "mine\na\nBB\nc\n"}


@pytest.mark.parametrize(
    ("span", "shifts", "carried"),
    [
        ((3, 5), [], (3, 5)),
        ((3, 5), [(0, 1, 3)], (5, 7)),
        ((3, 5), [(0, 3, 0)], (0, 2)),
        ((3, 5), [(5, 6, 0)], (3, 5)),
        ((3, 5), [(3, 4, 3)], (3, 7)),
        ((3, 5), [(2, 4, 0)], (2, 3)),
        ((3, 5), [(4, 8, 1)], (3, 5)),
        ((3, 5), [(0, 0, 1), (4, 4, 2), (9, 9, 5)], (4, 8)),
        ((3, 3), [(3, 3, 2)], (3, 3)),
        ((3, 3), [(2, 3, 2)], (4, 4)),
        ((3, 3), [(3, 3, 2), (0, 1, 3)], (5, 5)),
    ],
)
def test_lines_are_carried_through_later_changes(
    span: tuple[int, int], shifts: list[tuple[int, int, int]], carried: tuple[int, int]
) -> None:
    assert carry(span, shifts) == carried
