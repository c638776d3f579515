"""Lines of which most are equal, as a table: the file, what was typed, and the file with the hunk in it."""

from __future__ import annotations

import pytest

from edits.files.folding import fold
from edits.placing.alignment import place_aligned
from edits.placing.indent import reindented
from tests.edits.placing.written import body

LOAD = [
    "def load(path):",
    "    name = path.name",
    "    data = read(name)",
    "    check(data)",
    "    return data",
]
STALE = [
    " def load(path):",
    "     name = path.stem",
    "     data = read(name)",
    "-    check(data)",
    "+    x(data)",
    "     return data",
]
DONE = [*LOAD[:3], "    x(data)", LOAD[4]]


def aligned(file: list[str], typed: list[str]) -> list[str] | None:
    """The file with the hunk in it; None if it has no place."""
    found = place_aligned(file, fold(file), body(*typed))
    if found is None:
        return None
    start, end, typed_lines, shift = found
    whole = reindented(typed_lines, shift)
    assert whole is not None
    assert [line.text for line in whole if line.kind.value != "+"] == file[start:end]
    return [*file[:start], *(line.text for line in whole if line.kind.value != "-"), *file[end:]]


@pytest.mark.parametrize(
    ("file", "typed", "after"),
    [
        (LOAD, STALE, DONE),
        (["top", "", *LOAD, "", "end"], STALE, ["top", "", *DONE, "", "end"]),
        # A blank line of the file's own, and one that was typed.
        ([*LOAD[:2], "", *LOAD[2:]], STALE, [*DONE[:2], "", *DONE[2:]]),
        (LOAD, [*STALE[:2], " ", *STALE[2:]], DONE),
        ([*LOAD[:4], "", LOAD[4]], STALE, [*DONE[:4], "", DONE[4]]),
        # A line of words that was not typed: away from the change, and beside it.
        ([LOAD[0], "    more(path)", *LOAD[1:]], STALE, [DONE[0], "    more(path)", *DONE[1:]]),
        ([*LOAD[:3], "    more(data)", *LOAD[3:]], STALE, None),
        ([*LOAD[:4], "    more(data)", *LOAD[4:]], STALE, None),
        # A blank line of the file's own where the new line goes: on which side of it, nobody knows.
        ([*LOAD[:3], "", *LOAD[3:]], [*STALE[:3], STALE[4], "     check(data)", STALE[5]], None),
        # Other quotes and white space.
        (
            ["begin('a', 'b');", *LOAD[:3], "finish(1)"],
            [' begin("a","b")', *STALE[:3], "+    x", " finish(1)"],
            ["begin('a', 'b');", *LOAD[:3], "    x", "finish(1)"],
        ),
        # The stale word is still used in the file: this may be another place.
        ([*LOAD, "stem = 1"], STALE, None),
        # A similar place with nearly the same text.
        ([*LOAD, "", *LOAD[:1], "    name = path.other", *LOAD[2:]], STALE, None),
        # The first and last lines, and each line to delete, must be as typed.
        (LOAD, [" def load(paths):", *STALE[1:]], None),
        (LOAD, [*STALE[:-1], "     return date"], None),
        (LOAD, [*STALE[:3], "-    checks(data)", *STALE[4:]], None),
        # The lines beside the change too.
        (LOAD, [*STALE[:2], "     data = read(nam)", *STALE[3:]], None),
        # Too little of the text is there.
        (LOAD, [STALE[0], "     one = 1", "     two = 2", "     three = 3", *STALE[4:]], None),
        (
            [LOAD[0], "    entirely = different(words)", *LOAD[2:]],
            STALE,
            [DONE[0], "    entirely = different(words)", *DONE[2:]],
        ),
        # All of it is indented otherwise.
        ([f"  {line}" for line in LOAD], STALE, [f"  {line}" for line in DONE]),
        # Only new lines, and nothing.
        (LOAD, ["+x"], None),
        ([], STALE, None),
    ],
)
def test_lines_of_which_most_are_equal(file: list[str], typed: list[str], after: list[str] | None) -> None:
    assert aligned(file, typed) == after


def numbered(count: int) -> list[str]:
    return [f"{number}{chr(97 + number % 26) * 4}" for number in range(count)]


@pytest.mark.parametrize(("count", "placed"), [(120, True), (121, False)])
def test_a_hunk_of_more_than_120_lines_is_not_aligned(count: int, placed: bool) -> None:
    file = numbered(count)
    typed = [f" {line}" for line in file]
    typed[60] = " 60iiiij"
    assert (aligned(file, [*typed[:3], "+new", *typed[3:]]) is not None) == placed
