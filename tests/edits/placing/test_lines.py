"""Comparing and finding lines: tables of lines and hunks, and where they are found."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from edits.files.folding import fold, indentation
from edits.hunk import Hunk, Rung
from edits.placing.blank_lines import matches, occurrences, place_spaced
from edits.placing.found import Miss, Place, Present
from edits.placing.indent import Levels, Moved, Shift, Tabs, Units, reindented, shift_of
from edits.placing.locate import find, locate
from tests.edits.placing.written import body, hunk, marked


@pytest.mark.parametrize(
    ("line", "folded"),
    [
        ("a  \t", "a"),
        ("  a", "  a"),
        ("x – y — z", "x - y - z"),
        ("‘a’ “b” «c»", '\'a\' "b" "c"'),
        ("a\u00a0b\u3000c", "a b c"),
        ("more…", "more..."),
        ("\ufeffa\u200bb", "ab"),
        ("é", "é"),
    ],
)
def test_folding(line: str, folded: str) -> None:
    assert fold([line]) == [folded]


@pytest.mark.parametrize(("line", "white"), [("  a", "  "), ("\t a b", "\t "), ("a", ""), ("   ", "   ")])
def test_indentation(line: str, white: str) -> None:
    assert indentation(line) == white


@pytest.mark.parametrize(
    ("file", "typed", "shift"),
    [
        (["a", "  b"], ["a", "  b"], Moved("", "")),
        (["  a", "    b"], ["a", "  b"], Moved("", "  ")),
        (["a", "  b"], ["    a", "      b"], Moved("    ", "")),
        (["\ta"], ["a"], Moved("", "\t")),
        (["  a", "", "  b"], ["a", "", "b"], Moved("", "  ")),
        (["", ""], ["", ""], Moved("", "")),
        (["  a", "   b"], ["a", "  b"], None),
        (["\ta", "\t\tb"], ["    a", "        b"], Tabs(4, True)),
        (["        a"], ["\ta"], Tabs(8, False)),
        (["\t\ta", "\tb"], ["    a", "  b"], Tabs(2, True)),
        (["\ta"], ["   a"], Tabs(3, True)),
        (["\ta", "\tb"], ["    a", "        b"], None),
        (["\ta"], ["     a"], None),
        (["  a", "    b"], ["    a", "        b"], Units(4, 2)),
        (["a", "    b"], ["a", "  b"], Units(2, 4)),
        (["  a", "    b"], ["    a", "       b"], None),
        (["a", "    b"], ["a", "b"], None),
        (["\ta", "\t\tb"], ["a", "  b"], Levels("", "\t", "  ", "\t")),
        (["  a", "    b", "  c"], ["a", "    b", "c"], Levels("", "  ", "    ", "  ")),
        (["  a", "    b"], ["a", "b", "  c"][:2], None),
        (["\ta", "\t\tb"], ["  a", "a"], None),
    ],
)
def test_the_shift_of_an_indentation(file: list[str], typed: list[str], shift: Shift | None) -> None:
    assert shift_of(file, typed) == shift


@pytest.mark.parametrize(
    ("shift", "typed", "moved"),
    [
        (Moved("", "  "), "  x", "    x"),
        (Moved("  ", ""), "    x", "  x"),
        (Moved("  ", ""), " x", None),
        (Units(4, 2), "        x", "    x"),
        (Units(4, 2), "      x", None),
        (Units(4, 2), "\t\t\t\tx", None),
        (Units(2, 4), "x", "x"),
        (Tabs(4, True), "         x", "\t\t x"),
        (Tabs(4, True), "\t    x", "\t\tx"),
        (Tabs(4, False), "\t\t x", "         x"),
        (Tabs(4, True), " \tx", None),
    ],
)
def test_a_shift_moves_new_lines_only(shift: Shift, typed: str, moved: str | None) -> None:
    lines = body(" kept", "-gone", "+", f"+{typed}")
    found = reindented(lines, shift)
    assert (None if found is None else marked(found)) == (
        None if moved is None else [" kept", "-gone", "+", f"+{moved}"]
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["b"], [1, 3]),
        (["b", "a"], [1]),
        (["a", "b"], [0, 2]),
        (["a", "long one"], []),
        (["b", "long one"], [3]),
        (["long one", "a"], []),
        (["a", "b", "a", "b", "long one"], [0]),
        (["a", "b", "a", "b", "long one", "a"], []),
    ],
)
def test_occurrences(wanted: list[str], found: list[int]) -> None:
    assert occurrences(["a", "b", "a", "b", "long one"], wanted) == found


def test_occurrences_may_overlap() -> None:
    assert occurrences(["x", "x", "x"], ["x", "x"]) == [0, 1]


@pytest.mark.parametrize(
    ("rung", "old", "found"),
    [
        (Rung.EXACT, ["  a"], [1]),
        (Rung.EXACT, ["a "], []),
        (Rung.FOLDED, ["a "], [0]),
        (Rung.INDENT, ["a"], [0, 1]),
        (Rung.INDENT, ["", ""], []),
        (Rung.INDENT, [" a", "   b"], [1]),
    ],
)
def test_the_first_three_rungs(rung: Rung, old: list[str], found: list[int]) -> None:
    assert matches(["a", "  a", "    b", "", ""], old, rung) == found


@pytest.mark.parametrize(
    ("old", "found"),
    [
        (["x"], (2, 3)),
        (["y", "  z"], (3, 5)),
        (["a"], None),
        (["z"], (4, 5)),
        (["z "], (4, 5)),
        (["nothing"], None),
        (["", " "], None),
        ([], None),
    ],
)
def test_find(old: list[str], found: tuple[int, int] | None) -> None:
    assert find(["a", "a", "x", "y", "  z", ""], old) == found


@pytest.mark.parametrize(
    ("lines", "edit", "answer"),
    [
        (["a", "b"], hunk("+x"), (2, 2)),
        ([], hunk("+x"), (0, 0)),
        (["a", "x"], hunk("+x"), Present(1, 2, Rung.EXACT)),
        (["a", "x", "y"], hunk("+x", "+y"), Present(1, 3, Rung.EXACT)),
        (["x", "a"], hunk("+x"), (2, 2)),
        (["a", "b", "c"], hunk("+x", anchors=("b",)), (2, 2)),
        (["a", "b", "x"], hunk("+x", anchors=("b",)), Present(2, 3, Rung.EXACT)),
        (
            ["a", "b", "b"],
            hunk("+x", anchors=("b",)),
            "the anchor “@@ b” is not in the file, or more than once",
        ),
        (["a"], hunk("+x", anchors=("q",)), "the anchor “@@ q” is not in the file, or more than once"),
        (["a"], hunk("+x", line_hint=1), "the edit has only line numbers"),
        ([], hunk("+x", line_hint=1), (0, 0)),
        (["a"], hunk(), "the edit has no lines"),
        (["a", ""], hunk(" ", "+x"), "blank lines alone do not determine the place"),
        (["a", "", "b", ""], hunk("-", "+x"), "the text occurs 2 times (lines 2, 4)"),
        (["a", "}", "  }", "b"], hunk("-}", "+x"), "the text occurs 2 times (lines 2, 3)"),
        (["a", "}", "b"], hunk("-}", "+x"), (1, 2)),
        (["}"], hunk("-}", "+x"), (0, 1)),
        (["", ""], hunk("-", "-", "+x"), (0, 2)),
        (["a", "}", "  }"], hunk("-}", "+x", line_hint=2), (1, 2)),
        (["a", "", "b"], hunk("-", "+x", at_end_of_file=True), (1, 2)),
        (["}", "a", "}"], hunk("-}", "+x", at_end_of_file=True), (2, 3)),
        (["}", "a", "}", "", " "], hunk("-}", "+x", at_end_of_file=True), (2, 3)),
        (["}", "a", "}", "b"], hunk("-}", "+x", at_end_of_file=True), "the text occurs 2 times (lines 1, 3)"),
        (["abc", *"1234567", "abc"], hunk("-abc", line_hint=3), (0, 1)),
        (["abc", *"1234567", "abc"], hunk("-abc", line_hint=4), "the text occurs 2 times"),
        (["abc", *"1234567", "abc"], hunk("-abc", line_hint=7), (8, 9)),
        (["abc", *"123", "abc"], hunk("-abc", line_hint=1), "the text occurs 2 times"),
        (["abc", *"1234", "abc"], hunk("-abc", line_hint=1), "the text occurs 2 times"),
        (["abc", *"12345", "abc"], hunk("-abc", line_hint=1), (0, 1)),
        (["q", "new line", "z"], hunk(" q", "-old line", "+new line", " z"), Present(0, 3, Rung.EXACT)),
        (["q", "new line"], hunk("-old line", "+new line"), Present(1, 2, Rung.EXACT)),
        (["new line", "q", "new line"], hunk("-old line", "+new line"), "the text is not in the file"),
        (["top", "a1", "b1"], hunk(" a1", "-old", " b1"), Present(1, 3, Rung.EXACT)),
        (["top", "a1"], hunk(" a1", "-old"), "the text is not in the file"),
        (["new", "old1", "q"], hunk("-old1", "-old2", "+new"), Present(0, 1, Rung.EXACT)),
        (["new", "old1", "old2"], hunk("-old1", "-q", "-old2", "+new"), "the text is not in the file"),
        (["old1", "new"], hunk("-old1", "-q", "+new"), Present(1, 2, Rung.EXACT)),
        (["old2", "old1", "new"], hunk("-old1", "-old2", "+new"), "the text is not in the file"),
        (["new", "old2", "old1"], hunk("-old1", "-old2", "+new"), "the text is not in the file"),
        (
            ["class A:", "  new1", "class B:", "  new1"],
            hunk("-old1", "+  new1", anchors=("class B:",)),
            Present(3, 4, Rung.EXACT),
        ),
        (["a few words", "and more"], hunk("-7| a few words", "-8| and more", "+x"), (0, 2)),
        (["a few words", "and more"], hunk("-7| a few words", "-9| and more", "+x"), "the text is not in"),
        ([" kept one", "gone words", " kept two"], hunk(" kept one", "-gone words", " kept two"), (0, 3)),
        (
            ["begin", "left out", "kept words"],
            hunk(" begin", " ...", " kept words"),
            Present(0, 3, Rung.ELISION),
        ),
    ],
)
def test_where_a_hunk_goes(lines: list[str], edit: Hunk, answer: tuple[int, int] | Present | str) -> None:
    found = locate(lines, edit)
    if isinstance(answer, tuple):
        assert isinstance(found, Place), found
        assert (found.start, found.end) == answer
    elif isinstance(answer, Present):
        assert found == answer
    else:
        assert isinstance(found, Miss) and found.message.startswith(answer), found


def test_a_hunk_of_blank_lines_and_one_line_of_words_needs_its_blank_lines() -> None:
    """Two lines with words may do without the blank lines around them, one may not."""
    one = hunk("-", "-words here", "+x", alternatives=(body("-words here", "+x"),))
    assert isinstance(locate(["words here"], one), Miss)
    two = hunk(
        "-", "-words here", "-more words", "+x", alternatives=(body("-words here", "-more words", "+x"),)
    )
    found = locate(["words here", "more words"], two)
    assert isinstance(found, Place) and (found.start, found.end) == (0, 2)


def test_the_first_reading_that_is_in_the_file_counts() -> None:
    edit = hunk("-one thing", "+x", alternatives=(body("-two things", "+y"), body("-three things", "+z")))
    found = locate(["three things", "two things"], edit)
    assert isinstance(found, Place) and (found.start, marked(found.lines)) == (1, ["-two things", "+y"])


LONG = "the only line of these words"


@pytest.mark.parametrize(
    ("lines", "old", "answer"),
    [
        (["class Box:", "    tiny"], "    tiny", None),
        (["class Box:", "    tiny", "tiny"], "    tiny", None),
        (["class Box:", "    tiny", "def other():", "    tiny"], "    tiny", 1),
        (["def other():", "    tiny", "class Box:", "    tiny"], "    tiny", 3),
        (["class Box:", f"    {LONG}"], f"    {LONG}", 1),
        (["class Box:", f"    {LONG}", "", f"    {LONG}"], f"    {LONG}", 1),
    ],
)
def test_an_anchor_in_other_words_settles_a_place_of_many_or_one_of_many_letters(
    lines: list[str], old: str, answer: int | None
) -> None:
    start = lines.index("class Box:")
    box = SimpleNamespace(name="Box", start=start, end=start + 2)
    found = locate(lines, hunk(f"-{old}", "+x", anchors=("the Box class",)), lambda: (box,))
    assert (found.start if isinstance(found, Place) else None) == answer


WORDS = ["first line of the words", "", "second line of the words"]


@pytest.mark.parametrize(
    ("file", "start"),
    [
        (WORDS, 0),
        ([*WORDS, *[f"    {line}" for line in WORDS]], 0),
        ([*[f"    {line}" for line in WORDS], *WORDS], 3),
        ([f"    {line}" for line in WORDS], 0),
        ([*WORDS, *WORDS], None),
        ([f"    {line}" for line in (*WORDS, *WORDS)], None),
    ],
)
def test_of_places_that_differ_in_blank_lines_the_one_with_its_indentation_is_meant(
    file: list[str], start: int | None
) -> None:
    found = place_spaced(file, fold(file), body(f" {WORDS[0]}", f"-{WORDS[2]}", "+x"))
    assert (found[:2] if found is not None else None) == (None if start is None else (start, start + 3))
