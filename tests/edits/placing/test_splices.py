"""From a place to bytes: tables of files, hunks, and the files with the hunks in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edits.files.diff import rewritten
from edits.hunk import Action, Extent, Format, Hunk, LineKind, RefusalCode, Replacement, Rung
from edits.placing.found import Miss, Place, Present
from edits.placing.place import Placed, deletes_as_it_is, place, place_parsed
from edits.placing.splices import Splice, extent_of, new_range, spliced, splices, with_final_newline
from edits.placing.whole_files import place_whole
from tests.edits.placing.written import body, hunk, text


@pytest.mark.parametrize(
    ("before", "start", "typed", "after", "lines"),
    [
        ("a\nb\nc\n", 1, ["-b", "+B"], "a\nB\nc\n", (2, 3)),
        ("a\nb\nc\n", 0, [" a", "+x", " b", "-c"], "a\nx\nb\n", (2, 4)),
        ("a\nb\nc\n", 3, ["+x"], "a\nb\nc\nx\n", (4, 5)),
        ("a\nb\nc", 3, ["+x", "+y"], "a\nb\nc\nx\ny", (3, 6)),
        ("a\nb\nc", 2, ["-c", "+x", "+y"], "a\nb\nx\ny", (3, 5)),
        ("a\nb\nc", 2, ["-c"], "a\nb\n", (3, 3)),
        ("a\r\nb\nc\r\n", 1, ["-b", "+x", "+y"], "a\r\nx\ny\nc\r\n", (2, 4)),
        ("a\r\nb\nc\r\n", 1, ["+x"], "a\r\nx\r\nb\nc\r\n", (2, 3)),
        ("a\r\nb\nc\r\n", 2, ["+x"], "a\r\nb\nx\nc\r\n", (3, 4)),
        ("a\nb\r\n", 0, ["+x"], "x\na\nb\r\n", (1, 2)),
        ("", 0, ["+x", "+y"], "x\r\ny\r\n", (1, 3)),
        ("a", 0, ["-a", "+x", "+y"], "x\r\ny", (1, 3)),
        ("a", 0, ["+x"], "x\r\na", (1, 2)),
    ],
)
def test_a_place_becomes_bytes(
    before: str, start: int, typed: list[str], after: str, lines: tuple[int, int]
) -> None:
    """``\\r\\n`` is for a file that has no line endings of its own."""
    file = text(before)
    old = sum(line[0] != "+" for line in typed)
    made = splices(file, Place(start, start + old, Rung.EXACT, body(*typed)), "\r\n")
    assert spliced(file, made) == after
    assert new_range(made) == lines


@pytest.mark.parametrize(
    ("before", "changes", "wanted", "after"),
    [
        ("a\nb", [], True, "a\nb\n"),
        ("a\nb\n", [], False, "a\nb"),
        ("a\nb\n", [Splice(0, ("a\n",), ("x\n",))], False, "x\nb"),
        ("a\nb\n", [Splice(1, ("b\n",), ("x\n", "y\n"))], False, "a\nx\ny"),
        ("a\nb", [Splice(1, ("b",), ("x",))], True, "a\nx\n"),
        ("a\nb\n", [Splice(0, ("a\n",), ("x\n",)), Splice(1, ("b\n",), ("y\n",))], False, "x\ny"),
        ("a\nb\n", [Splice(1, ("b\n",), ())], True, "a\n"),
        ("b", [], True, "b\r\n"),
    ],
)
def test_a_final_newline_is_added_or_removed(
    before: str, changes: list[Splice], wanted: bool, after: str
) -> None:
    file = text(before)
    assert spliced(file, with_final_newline(file, changes, wanted, "\r\n")) == after


@pytest.mark.parametrize(
    ("changes", "extent"),
    [
        ([], Extent(0, 0, "")),
        ([Splice(0, ("a\n",), ("b\n", "c\n"))], Extent(2, 1, "+b")),
        ([Splice(0, ("a\n", "k\n"), ("k\n",))], Extent(0, 1, "-a")),
        ([Splice(0, ("}\n", "  gone\n"), ()), Splice(5, (), ("{\n", "  come\n"))], Extent(2, 2, "+come")),
        ([Splice(0, ("one\n",), ()), Splice(5, ("two\n",), ())], Extent(0, 2, "-one")),
        ([Splice(0, (), ("one\n",)), Splice(5, (), ("two\n",))], Extent(2, 0, "+one")),
        ([Splice(0, (), ("{\n",))], Extent(1, 0, "")),
        ([Splice(0, (), (f" {'x' * 130}\n",))], Extent(1, 0, f"+{'x' * 120}")),
    ],
)
def test_the_extent_of_a_change(changes: list[Splice], extent: Extent) -> None:
    assert extent_of(changes) == extent


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ([], (1, 1)),
        ([Splice(3, ("a\n",), ("b\n", "c\n"))], (4, 6)),
        ([Splice(0, ("a\n", "b\n"), ()), Splice(5, (), ("x\n",))], (1, 5)),
        ([Splice(0, (), ("x\n",)), Splice(5, ("a\n",), ())], (1, 7)),
    ],
)
def test_the_lines_of_new_text(changes: list[Splice], lines: tuple[int, int]) -> None:
    assert new_range(changes) == lines


@pytest.mark.parametrize(
    ("typed", "new", "lines"),
    [
        ([" a", "-b", "+B", " c"], ["a", "x", "y", "c"], [" a", "-b", "+x", "+y", " c"]),
        ([" a", "-b", "+B", " c"], ["a", "b", "c"], [" a", " b", " c"]),
        ([" a", "-b", "+B", " c"], ["x", "a", "b"], ["+x", " a", " b", "-c"]),
        ([" a", "-b", "-c", " d"], ["a", "c", "d", "e"], [" a", "-b", " c", " d", "+e"]),
        (["-a", "+b"], [], ["-a"]),
        (["+b"], ["x"], ["+x"]),
    ],
)
def test_a_hunk_is_rewritten_by_the_user(typed: list[str], new: list[str], lines: list[str]) -> None:
    before = hunk(
        *typed,
        alternatives=(body("-q"),),
        replacement=Replacement("a", "b"),
        replace_all=True,
        anchors=("k",),
    )
    assert rewritten(before, new) == hunk(*lines, anchors=("k",))


@pytest.mark.parametrize(
    ("before", "edit", "after", "told"),
    [
        ("a\nb\n", hunk("-b", "+B"), "a\nB\n", (Rung.EXACT, 2, 3, False)),
        ("a\nb\n", hunk(" a", "-b"), "a\n", (Rung.EXACT, 1, 2, True)),
        ("x\na\nb\nc\n", hunk(" a", "+b"), "x\na\nb\nb\nc\n", (Rung.EXACT, 2, 4, True)),
        ("x\na\nb\nc\n", hunk(" a", " b"), "x\na\nb\nc\n", (Rung.EXACT, 2, 4, True)),
        ("x\na\nb", hunk("-b", "+b", final_newline=True), "x\na\nb\n", (Rung.EXACT, 3, 4, False)),
        ("x\na\nb\n", hunk("-b", "+b", final_newline=False), "x\na\nb", (Rung.EXACT, 3, 4, False)),
        ("x\na\nb\n", hunk("-a", "+A", final_newline=False), "x\nA\nb\n", (Rung.EXACT, 2, 3, False)),
        ("a\nb\nc\nd\n", replace(hunk("+a", "+x", "+c", "+d", "+e"), format=Format.WHOLE),
         "a\nx\nc\nd\ne\n", (Rung.EXACT, 1, 5, False)),
        ("a\r\nb\r\nc\nd", replace(hunk("+b", "+c", "+d"), format=Format.WHOLE),
         "b\r\nc\nd", (Rung.EXACT, 1, 5, False)),
        ("a\nb\n", replace(hunk("+a", "+b"), format=Format.WHOLE), "a\nb\n", (Rung.EXACT, 1, 3, True)),
        ("ab\ncab\n", hunk("-ca", "+x", replacement=Replacement("ca", "x")), "ab\nxb\n",
         (Rung.EXACT, 2, 3, False)),
        ("  a\n  b\n", hunk("-a", "-b", "+c", replacement=Replacement("a\nb", "c")),
         "  c\n", (Rung.INDENT, 1, 3, False)),
        ("  ab\n", hunk("-ab", "+c", "+d", replacement=Replacement("ab", "c\nd")),
         "  c\n  d\n", (Rung.INDENT, 1, 2, False)),
    ],
)  # fmt: skip
def test_a_hunk_in_its_file(before: str, edit: Hunk, after: str, told: tuple[Rung, int, int, bool]) -> None:
    file = text(before)
    placed = place(file, edit)
    assert isinstance(placed, Placed), placed
    assert spliced(file, placed.splices) == after
    assert (placed.rung, placed.start, placed.end, placed.repeats) == told
    assert all(splice.old != splice.new for splice in placed.splices)


@pytest.mark.parametrize("typed", [(" a word", "+new words"), ("+a word", " new words")])
def test_an_insertion_stands_there_with_another_indentation(typed: tuple[str, ...]) -> None:
    assert place(text("x\n  a word\n  new words\ny\n"), hunk(*typed)) == Present(1, 3, Rung.INDENT)


@pytest.mark.parametrize(
    ("before", "typed", "others", "after"),
    [
        ("b = 2\n", ["-b = 2", "+b = ("], [], "b = (\n"),
        ("b = 2\n", ["-b = 2", "+b = 3"], [["-b = 2", "+b = 4"]], "b = 3\n"),
        ("b = 2\n", ["-b = 2", "+b = ("], [["-gone", "+b"], ["-b = 2", "+b = 3"]], "b = 3\n"),
        ("b = 2\n", ["-b = 2", "+b = ("], [["-b = 2", "+b = 2"], ["-b = 2", "+((("]], "b = (\n"),
        ("b = 2 \n", ["-b = 2", "+b = ("], [["-b = 2", "+((("]], "is not quite that of line 1,"),
        ("a\nb = 2 \n", [" a", "-b = 2", "+b = ("], [], "is not quite that of lines 1-2,"),
        ("b = 2 \n", ["-b = 2", "+b = 3"], [], "b = 3\n"),
        ("b = (2 \n", ["-b = (2", "+b = ("], [], "b = (\n"),
    ],
)
def test_of_several_readings_one_with_which_the_file_parses_is_placed(
    before: str, typed: list[str], others: list[list[str]], after: str
) -> None:
    file = text(before)
    edit = hunk(*typed, alternatives=tuple(body(*lines) for lines in others))
    placed = place_parsed(file, edit, lambda: (), lambda _, new: "a bracket is open" if "(" in new else None)
    if isinstance(placed, Miss):
        assert after in placed.message and "a bracket is open" in placed.message
    else:
        assert isinstance(placed, Placed) and spliced(file, placed.splices) == after


LISTED = ["items = [", *(["    item,", "    other,"] * 110), "]", "end = 1", "last = 2"]


@pytest.mark.parametrize(
    ("lines", "typed", "after"),
    [
        (["import os", "", "def f():", "    x", "def g():", "    y"],
         ["import os", "", "# ... existing code ...", "", "def g():", "    z"],
         ["import os", "", "def f():", "    x", "def g():", "    z"]),
        (["import os", "def f():", "    x", "def g():", "    y"],
         ["# ... existing code ...", "# ... more code ...", "def g():", "    z", "# ... existing code ..."],
         None),
        (["import os", "def f():", "    x", "def g():", "    y"],
         ["# ... existing code ...", "", "# ... existing code ...", "def g():", "    z"],
         ["import os", "def f():", "    x", "def g():", "    z"]),
        (["def f():", "    x", "def g():", "    x"], ["def f():", "    x", "# ... existing code ..."], None),
        (["def f():", "    x", "def g():", "    y"], ["def g():", "# ... existing code ...", "def f():"],
         None),
        (LISTED, [*LISTED[:-1], "# ... existing code ..."], LISTED),
    ],
)  # fmt: skip
def test_what_a_whole_file_leaves_out_is_the_files(
    lines: list[str], typed: list[str], after: list[str] | None
) -> None:
    found = place_whole(
        lines, Hunk("f.py", Action.UPDATE, Format.WHOLE, body(*(f"+{line}" for line in typed)))
    )
    if after is None:
        assert isinstance(found, Miss) and "it is not certain which" in found.message
    else:
        assert isinstance(found, Place) and found.rung is Rung.ELISION
        assert [line.text for line in found.lines if line.kind is not LineKind.OLD] == after


@pytest.mark.parametrize(
    ("old", "new", "placed"),
    [
        ("one\n two", "x", True),
        ("one\n two\n", "x ", False),
        ("one\n two\n", "x", True),
        ("one\n two", "x\n", False),
        ("one\n two\n", "", True),
        ("one\n two\n", "x\n", True),
    ],
)
def test_lines_cannot_join_what_an_edit_by_characters_joins(old: str, new: str, placed: bool) -> None:
    file = text("  one\n   two\n  three\n")
    lines = body("-one", "- two", *(["+x"] if new else []))
    edit = Hunk("f", Action.UPDATE, Format.JSON, lines, replacement=Replacement(old, new))
    assert isinstance(place(file, edit), Placed) == placed


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        ([], True),
        (["-a", "-b"], True),
        (["-a ", "-b", "-", "-"], True),
        (["-a"], False),
        (["-a", "-b", "-c"], False),
        (["-", "-a", "-b"], False),
    ],
)
def test_a_deletion_shows_the_file_as_it_is(shown: list[str], same: bool) -> None:
    miss = deletes_as_it_is(text("a\nb\n\n"), Hunk("f", Action.DELETE, Format.V4A, body(*shown)))
    assert (miss is None) == same
    if miss is not None:
        assert miss.code is RefusalCode.NO_MATCH
        assert miss.message.startswith("the file differs from what the edit deletes: ")
