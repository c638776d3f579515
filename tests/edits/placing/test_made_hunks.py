"""Hunks of what a program did to a file: landed in order they give its bytes, or there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from edits.files.text import FileError
from edits.hunk import Action, Landed
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from edits.placing.made_hunks import made_hunks, moved_hunk
from tests.edits.placing.written import marked
from tests.thorough import share

LINE = some.sampled_from(
    ["a", "b", "", "}", "x = 1", "...", "*** End Patch", "=======", "+a", "1 a", "# ... rest"]
)
TEXT = some.builds(
    lambda lines, end: "\n".join(lines) + end, some.lists(LINE, max_size=12), some.sampled_from(["", "\n"])
)


def land(root: Path, path: str, before: bytes | None, after: bytes | None) -> list[object]:
    """The results of landing the hunks in a new project."""
    file = root / path
    if before is not None:
        file.write_bytes(before)
    landing = Landing(root, Ledger(root.parent / "ledger"))
    hunks = made_hunks(path, before, after)
    assert all(hunk.made for hunk in hunks)
    return [landing.land(each, hunk_id=f"h{at}") for at, each in enumerate(hunks)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("one\ntwo\nthree\n", "one\n2\nthree\n"),
        ("one\ntwo\n", "two\n"),
        ("a\n" * 40, "a\n" * 20 + "b\n" + "a\n" * 20),
        ("one\r\ntwo\r\n", "one\r\n2\r\n"),
        ("one", "one\n"),
        ("one\n", "one"),
        ("one\ntwo", "one\n"),
        ("x = 1\n", "x = 1\n*** End Patch\n"),
        ("x = 1\ny = 2\n", "# ... rest of the code\nx = 1\ny = 2\n"),
        ("", "new\n"),
        ("old\n", ""),
        (
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            "<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE\n",
        ),
        ("\ufeffone\n", "\ufefftwo\n"),
        ("é\n", "è\n"),
    ],
)
def test_the_file_becomes_what_the_program_made(tmp_path: Path, before: str, after: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    results = land(root, "a.py", before.encode(), after.encode())
    assert results and all(isinstance(each, Landed) for each in results), results
    assert (root / "a.py").read_bytes() == after.encode()


@settings(max_examples=share(2_000, 200))
@given(TEXT, TEXT)
@example("a\nb", "b\n")
def test_hunks_give_the_bytes_or_none_are_made(before: str, after: str) -> None:
    try:
        hunks = made_hunks("a.py", before.encode(), after.encode())
    except FileError as problem:
        assert "line endings change" in problem.message and after == "\n"
    else:
        assert bool(hunks) or before == after or not before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\ntwo\n", b"one\r\ntwo\r\n"),
        (b"one\n", b"\xff\xfeo\x00n\x00"),
        (b"\x00", b"\x01\x00"),
        (b"\x00", None),
        (None, b"\x00\x01"),
        (None, b"\xef\xbb\xbfbom\n"),
    ],
)
def test_what_lines_cannot_tell_makes_no_hunks(before: bytes | None, after: bytes | None) -> None:
    with pytest.raises(FileError):
        made_hunks("a", before, after)


def test_files_are_made_deleted_and_moved(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (result,) = land(root, "new.py", None, b"a\nb")
    assert isinstance(result, Landed) and result.action is Action.ADD
    assert (root / "new.py").read_bytes() == b"a\nb"
    landing = Landing(root, Ledger(root.parent / "other"))
    assert isinstance(landing.land(moved_hunk("new.py", "there.py"), hunk_id="h1"), Landed)
    (gone,) = made_hunks("there.py", b"a\nb", None)
    assert isinstance(landing.land(gone, hunk_id="h2"), Landed) and not list(root.glob("*.py"))


def test_a_final_newline_that_goes_is_told_with_the_last_lines() -> None:
    (hunk,) = made_hunks("a.py", b"1\n2\n3\n4\n", b"1\n2\n3\n4")
    assert (marked(hunk.lines), hunk.line_hint, hunk.final_newline) == ([" 2", " 3", " 4"], 2, False)


def test_hunks_far_from_each_other_are_found_where_the_ones_before_moved_them() -> None:
    kept = [f"{number}\n" for number in range(12)]
    before, after = ["a\n", *kept, "b\n", *kept, "c\n"], ["x\n", "y\n", *kept, *kept, "z\n"]
    hunks = made_hunks("a.py", "".join(before).encode(), "".join(after).encode())
    assert [hunk.line_hint for hunk in hunks] == [1, 12, 24]


def test_a_hunk_lands_where_its_lines_moved_to_and_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (hunk,) = made_hunks("a.py", b"one\ntwo\n", b"one\n2\n")
    landing = Landing(root, Ledger(tmp_path / "ledger"))
    (root / "a.py").write_text("zero\nzero\none\ntwo\n")
    assert isinstance(landing.land(hunk, hunk_id="h1"), Landed)
    assert (root / "a.py").read_text() == "zero\nzero\none\n2\n"
    for text in ("one\n two\n", "zero\none\ntwo\none\ntwo\n", "one\n"):
        (root / "a.py").write_text(text)
        assert not isinstance(landing.land(hunk, hunk_id="h2"), Landed), text
        assert (root / "a.py").read_text() == text
