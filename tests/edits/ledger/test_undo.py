"""Undo and redo of any hunk, in any order, through later hunks and the user's own edits."""

from __future__ import annotations

import math
import shutil
from itertools import combinations, permutations
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project
from tests.faults import in_processes
from tests.thorough import IN_FULL


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def edit(path: str, *lines: str) -> Hunk:
    """An update whose lines begin with a space, ``-`` or ``+``."""
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


def land(project: Project, hunk: Hunk, name: str) -> Landed:
    result = project.landing.land(hunk, hunk_id=name)
    assert isinstance(result, Landed), result
    return result


ALPHABET = "".join(f"{letter}\n" for letter in "abcdefghij")
SIX = {
    "h1": edit("one.txt", " a", "-b", "+B1", "+B2", " c"),
    "h2": edit("one.txt", "-c", "+C"),
    "h3": edit("two.txt", "-e", " f"),
    "h4": edit("two.txt", " f", "+between", " g"),
    "h5": edit("three.txt", "+top", " a", " b", "-c", "+C", " d"),
    "h6": edit("three.txt", "-j", "+J", "+K"),
}


def expected(landed: set[str]) -> dict[str, str]:
    """The files with only these hunks in them, written out by hand rather than by the code under test."""
    one = ["a", *(["B1", "B2"] if "h1" in landed else ["b"]), "C" if "h2" in landed else "c", *"defghij"]
    two = [
        *"abcd",
        *([] if "h3" in landed else ["e"]),
        "f",
        *(["between"] if "h4" in landed else []),
        *"ghij",
    ]
    three = [*(["top"] if "h5" in landed else []), "a", "b", "C" if "h5" in landed else "c", *"defghi"]
    three += ["J", "K"] if "h6" in landed else ["j"]
    return {
        name: "".join(f"{line}\n" for line in lines)
        for name, lines in (("one.txt", one), ("three.txt", three), ("two.txt", two))
    }


def test_every_subset_is_undone_in_every_order(tmp_path: Path) -> None:
    """All sequences of distinct hunks, 1956 of six or 64 of the four of two files: each begins with a shorter
    one, from whose files and ledger it goes on. In the short ones the last step is landed again, too."""
    chosen = [list(SIX)] if IN_FULL else [list(SIX)[:4], list(SIX)[2:]]
    for number, names in enumerate(chosen):
        every_order(tmp_path / str(number), names)


def every_order(place: Path, names: list[str]) -> None:
    first = Project(place / "0")
    first.write(dict.fromkeys(("one.txt", "two.txt", "three.txt"), ALPHABET))
    for name in names:
        land(first, SIX[name], name)
    assert first.read() == expected(set(names))
    count = 0

    def go_on(folder: Path, left: frozenset[str]) -> None:
        nonlocal count
        for name in sorted(left):
            count += 1
            copy = place / str(count)
            shutil.copytree(folder, copy)
            landing = Landing(copy / "project", Ledger(copy / "ledger"))
            assert isinstance(landing.undo(name), Landed)
            remaining = left - {name}
            assert contents(copy / "project") == expected(set(remaining)), (left, name)
            go_on(copy, remaining)
            if len(left) > len(names) - 3:
                assert isinstance(landing.redo(name), Landed)
                assert contents(copy / "project") == expected(set(left)), (left, name)
            shutil.rmtree(copy)

    go_on(place / "0", frozenset(names))
    assert count == sum(math.perm(len(names), size) for size in range(1, len(names) + 1))


def contents(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.iterdir()}


def test_the_last_hunk_is_undone_without_an_id_and_then_the_one_before(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-a", "+A"), "h1")
    land(project, edit("a.txt", "-b", "+B"), "h2")
    assert [project.landing.undo().hunk for _ in range(2)] == ["h2", "h1"]
    refused = project.landing.undo()
    assert isinstance(refused, Refused) and "no hunk to undo" in refused.message
    assert [project.landing.redo().hunk for _ in range(2)] == ["h1", "h2"]
    assert project.read()["a.txt"] == ALPHABET.replace("a", "A").replace("b", "B")


def test_undo_frames_the_old_text_and_redo_the_new(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", " c", "-d", "+D1", "+D2", "+D3"), "h1")
    undone, redone = project.landing.undo("h1"), project.landing.redo("h1")
    assert isinstance(undone, Landed) and (undone.start, undone.end) == (4, 5)
    assert isinstance(redone, Landed) and (redone.start, redone.end) == (4, 7)


def test_the_users_edits_elsewhere_stay_when_a_hunk_is_undone(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-e", "+E1", "+E2"), "h1")
    path = project.root / "a.txt"
    path.write_text("mine\n" + path.read_text().replace("j\n", "mine too\n").replace("d\n", ""))
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read()["a.txt"] == "mine\na\nb\nc\ne\nf\ng\nh\ni\nmine too\n"


def test_text_the_user_changed_is_not_undone(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-e", "+E"), "h1")
    path = project.root / "a.txt"
    path.write_text(path.read_text().replace("E\n", "my E\n"))
    refused = project.landing.undo("h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.CONFLICT
    assert "my E\n" in path.read_text()
    assert project.ledger.hunks()[0].state == "landed"


def test_a_hunk_that_another_changed_comes_back_after_that_one_is_undone(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-c", "+one", "+two", "+three"), "h1")
    land(project, edit("a.txt", "-b", "-one", "+both"), "h2")
    refused = project.landing.undo("h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.CONFLICT
    assert isinstance(project.landing.undo("h2"), Landed)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read()["a.txt"] == ALPHABET


def test_an_added_file_goes_with_its_folders_and_comes_back(project: Project) -> None:
    new = Hunk("deep/er/new.py", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "x = 1"),))
    land(project, new, "h1")
    assert isinstance(project.landing.undo("h1"), Landed)
    assert list(project.root.iterdir()) == []
    assert isinstance(project.landing.redo("h1"), Landed)
    assert project.read() == {"deep/er/new.py": "x = 1\n"}


def test_an_added_file_that_grew_is_not_deleted(project: Project) -> None:
    land(project, Hunk("n.txt", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "x"),)), "h1")
    land(project, edit("n.txt", " x", "+y"), "h2")
    refused = project.landing.undo("h1")
    assert isinstance(refused, Refused) and "h2" in refused.message
    assert isinstance(project.landing.undo("h2"), Landed)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read() == {}


@pytest.mark.parametrize("content", [b"text\r\nmore", b"\x00\x01\xff binary", b""])
def test_a_deleted_file_comes_back_byte_for_byte_with_its_mode(project: Project, content: bytes) -> None:
    project.write({"gone.bin": content})
    (project.root / "gone.bin").chmod(0o751)
    land(project, Hunk("gone.bin", Action.DELETE, Format.V4A), "h1")
    assert project.read_bytes() == {}
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read_bytes() == {"gone.bin": content}
    assert (project.root / "gone.bin").stat().st_mode & 0o777 == 0o751
    assert isinstance(project.landing.redo("h1"), Landed)
    assert project.read_bytes() == {}


def test_a_move_is_undone_with_and_without_its_edit_and_hunks_follow_the_file(project: Project) -> None:
    project.write({"old.txt": ALPHABET})
    land(project, edit("old.txt", "-b", "+B"), "h1")
    body = (HunkLine(LineKind.OLD, "d"), HunkLine(LineKind.NEW, "D"))
    moved = land(project, Hunk("old.txt", Action.MOVE, Format.V4A, body, move_to="to/new.txt"), "h2")
    assert moved.moved_to == "to/new.txt"
    land(project, edit("to/new.txt", "-f", "+F"), "h3")
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read() == {"to/new.txt": ALPHABET.replace("d", "D").replace("f", "F")}
    assert isinstance(project.landing.undo("h2"), Landed)
    assert project.read() == {"old.txt": ALPHABET.replace("f", "F")}
    assert not (project.root / "to").exists()
    assert isinstance(project.landing.undo("h3"), Landed)
    assert project.read() == {"old.txt": ALPHABET}
    for name in ("h2", "h3", "h1"):
        assert isinstance(project.landing.redo(name), Landed)
    assert project.read() == {"to/new.txt": ALPHABET.replace("b", "B").replace("d", "D").replace("f", "F")}


def test_a_move_is_not_undone_over_a_file_that_took_its_name(project: Project) -> None:
    project.write({"old.txt": "x\n"})
    land(project, Hunk("old.txt", Action.MOVE, Format.V4A, move_to="new.txt"), "h1")
    project.write({"old.txt": "another\n"})
    refused = project.landing.undo("h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.CONFLICT
    assert project.read() == {"old.txt": "another\n", "new.txt": "x\n"}


def test_unknown_and_repeated_undo_are_refused_with_a_reason(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-e", "+E"), "h1")
    assert isinstance(project.landing.undo("h1"), Landed)
    for result, word in (
        (project.landing.undo("h9"), "no hunk h9"),
        (project.landing.undo("h1"), "undone already"),
    ):
        assert isinstance(result, Refused) and word in result.message


def test_another_process_undoes_what_this_one_landed(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-e", "+E"), "h1")

    def undo() -> bool:
        landing = Landing(project.root, Ledger(project.folder / "ledger"))
        return isinstance(landing.undo("h1"), Landed)

    assert in_processes(undo) == [True]
    assert project.read()["a.txt"] == ALPHABET
    assert project.ledger.hunks()[0].state == "undone"
    assert isinstance(project.landing.redo("h1"), Landed)


def test_live_ranges_follow_later_hunks_and_the_user(project: Project) -> None:
    project.write({"a.txt": ALPHABET})
    land(project, edit("a.txt", "-e", "+E1", "+E2"), "h1")
    land(project, edit("a.txt", " a", "+new", "+lines"), "h2")
    record = next(record for record in project.ledger.hunks() if record.id == "h1")
    assert (record.start, record.end) == (7, 9)
    path = project.root / "a.txt"
    path.write_text("user\n" + path.read_text())
    assert project.landing.where(["h1"]) == {"h1": ("a.txt", 8, 10)}


def test_many_hunks_of_one_file_can_all_be_undone_by_a_new_process(project: Project) -> None:
    """More changes than the ledger chains together: contents come from blobs and from splices."""
    lines = [f"line {number}" for number in range(80)]
    project.write({"a.txt": "".join(f"{line}\n" for line in lines)})
    before = project.read()
    for number in range(0, 80, 2):
        land(project, edit("a.txt", f"-line {number}", f"+LINE {number}"), f"h{number}")
    fresh = Landing(project.root, Ledger(project.folder / "ledger"))
    (project.root / "a.txt").write_text("user\n" + (project.root / "a.txt").read_text())
    for number in range(0, 80, 2):
        assert isinstance(fresh.undo(f"h{number}"), Landed)
    assert project.read() == {"a.txt": "user\n" + before["a.txt"]}


def undone_in_every_order(folder: Path, text: str, hunks: list[Hunk], expect: dict[str, str]) -> None:
    """``expect`` gives the text with only some hunks in it, by their numbers."""
    names = "".join(str(number) for number in range(len(hunks)))
    for order in permutations(names):
        project = Project(folder / "".join(order))
        project.write({"a.txt": text})
        for name, hunk in zip(names, hunks, strict=True):
            land(project, hunk, name)
        left = set(names)
        for name in order:
            result = project.landing.undo(name)
            assert isinstance(result, Landed), (order, name, result)
            left.discard(name)
            assert project.read()["a.txt"] == expect["".join(sorted(left))], (order, name)
        for name in names:
            result = project.landing.redo(name)
            assert isinstance(result, Landed), (order, "redo", name, result)
        assert project.read()["a.txt"] == expect[names], order


def test_changes_at_a_last_line_without_newline(tmp_path: Path) -> None:
    hunks = [edit("a.txt", "-b", "+B"), edit("a.txt", " B", "+c"), edit("a.txt", " c", "+d")]
    expect = {
        "": "a\nb", "0": "a\nB", "1": "a\nb\nc", "2": "a\nb\nd", "01": "a\nB\nc", "02": "a\nB\nd",
        "12": "a\nb\nc\nd", "012": "a\nB\nc\nd",
    }  # fmt: skip
    undone_in_every_order(tmp_path, "a\nb", hunks, expect)


def test_lines_deleted_next_to_each_other_come_back_in_their_order(tmp_path: Path) -> None:
    hunks = [edit("a.txt", "-c"), edit("a.txt", "-b"), edit("a.txt", "-d"), edit("a.txt", " a", "+x", " e")]
    letters = "cbd"
    expect = {}
    for size in range(5):
        for chosen in combinations("0123", size):
            gone = {letters[int(name)] for name in chosen if name != "3"}
            text = [letter for letter in "abcde" if letter not in gone]
            if "3" in chosen:
                text.insert(len(text) - 1, "x")
            expect["".join(chosen)] = "".join(f"{letter}\n" for letter in text)
    undone_in_every_order(tmp_path, "a\nb\nc\nd\ne\n", hunks, expect)
