"""No text of any shape holds a key: lines of any length, number, language, width and nesting cost a bounded
number of steps for each key and each frame. Steps are calls of functions, and no time is measured; a pattern
that goes over a line again and again does not end here at all."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from itertools import product
from types import FrameType
from typing import Any

import pytest

from edits.formats.detect import AutoParser
from tests.thorough import share
from tests.tui.editor.test_long_lines import NUMBER_WIDTH, PALETTE, WIDTH, look
from tui.chat.transcript.markdown import MarkdownStream
from tui.editor.buffers.text_search import MOST, Search
from tui.editor.colouring import Colouring
from tui.editor.drawing import LineLook, draw_line, in_sight
from tui.screen.drawing.code import MOST_LEXED, lexer_for
from tui.screen.drawing.palette import Palette

MOST_STEPS = 150_000
"""Calls for a key or a frame. A screen of ordinary code takes 20,000, which is some 10 ms."""
MOST_LEXING = 300_000
"""Calls of a lexer for the rows in sight: that of CSS tries some hundred patterns for each token."""
LENGTHS = (3_900, 12_000)
UNITS = {
    **{each: each for each in "a (<>[{*_`~|#-=\"'\\/&!:.\t漢"},
    "words": "word ",
    "joined": "e\u0301",
    "stars": "**a ",
    "lines": "__a ",
    "ticks": "`a ``b ",
    "links": "[a](",
    "addresses": "http://a",
    "members": "a.b(c)[d]",
    "tags": "<?a ",
    "comments": "/*",
    "escapes": "\x1b[",
}
BEGINNINGS = ("", "# a", "| ", "> ", "- ", "1. ", "```", "~~~", "    ", "**", "`")
PATHS = ("a.py", "a.js", "a.html", "a.css", "a.md", "a.json", "a.unknown")


def steps(work: Callable[[], object]) -> int:
    """The calls that ``work`` makes."""
    count = 0

    def called(frame: FrameType, event: str, what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def shaped(unit: str, length: int, beginning: str = "") -> str:
    return f"{beginning}{unit * (length // len(unit))}"


def some(*kinds: Iterable[Any], usual: int) -> list[tuple[Any, ...]]:
    """Some of all combinations: the same ones in every run, and all of them in full."""
    every = list(product(*kinds))
    return random.Random(41).sample(every, share(len(every), usual))


def test_a_line_of_an_answer() -> None:
    """As it comes, and once it is whole; in prose and in code."""
    for unit, length, beginning, end in some(UNITS, LENGTHS, BEGINNINGS, ("x", "`", " x"), usual=20):
        stream = MarkdownStream(WIDTH)
        stream.feed(shaped(UNITS[unit], length, beginning) + end)
        assert steps(stream.settle) < MOST_STEPS, ("growing", unit, length, beginning, end)
        stream.feed("\n")
        assert steps(stream.settle) < MOST_STEPS, ("whole", unit, length, beginning, end)


AGAIN = (
    "# a{}x",
    "|{}x",
    "```{}`",
    "~~~{}`",
    "{}- x",
    "`{}",
    "[{}",
    "**{}",
    "@@ x{}y",
    "--- a/a{}x",
    "{}(x",
    "```{}x`",
)


@pytest.mark.parametrize("filling", [" ", "~", "[", "a "])
def test_a_pattern_that_goes_over_a_line_again_and_again(filling: str) -> None:
    """Such a pattern takes minutes here. In an answer, and in one that edits."""
    for line, begins in product(AGAIN, ("", "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n x\n")):
        text = line.format(filling * (30_000 // len(filling)))
        parser = AutoParser()
        assert steps(lambda: parser.feed(f"{begins}{text}\n")) < MOST_STEPS  # noqa: B023
    for line in AGAIN:
        stream = MarkdownStream(WIDTH)
        stream.feed(line.format(filling * (3_900 // len(filling))) + "\n")
        assert steps(stream.settle) < MOST_STEPS


def test_a_line_that_may_be_an_edit() -> None:
    opened = (*BEGINNINGS, "<<<<<<< SEARCH\n", "*** Update File: ", "a.py\n```\n<<<<<<< SEARCH\n")
    for unit, beginning, end in some(UNITS, opened, ("x", "`", " \n"), usual=20):
        parser = AutoParser()
        text = shaped(UNITS[unit], LENGTHS[1], beginning) + end
        assert steps(lambda: [*parser.feed(text), *parser.close(clean=True)]) < MOST_STEPS, (  # noqa: B023
            unit,
            beginning,
            end,
        )


def test_the_lines_in_sight_of_a_file() -> None:
    for path, unit, (length, count) in some(PATHS, UNITS, ((100_000, 1), (500, 60), (60, 60)), usual=8):
        line = shaped(UNITS[unit], length)
        colouring = Colouring()
        colouring.reset(path, count)
        lexer_for(path=path)  # its tables are made in a thread, when the file is opened
        lexed = steps(lambda: colouring.prepare(lambda row: line, 0, count))  # noqa: B023
        assert lexed < MOST_LEXING, (path, unit, length, count)
        row = look(line, colouring.of(0) or [])
        drawn = steps(lambda: draw_line(*_seen(row, line)))  # noqa: B023
        assert drawn * count < MOST_STEPS, (path, unit, length, count)


def _seen(row: LineLook, line: str) -> tuple[LineLook, str, Palette, int, int, int]:
    asked, text, scroll = in_sight(row, line, 0, WIDTH)
    return asked, text, PALETTE, WIDTH, NUMBER_WIDTH, scroll


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["> " * 1_500 + "deep"] * 3, id="quotes in quotes"),
        pytest.param([" " * depth + "- item" for depth in range(0, 2_000, 100)], id="lists in lists"),
        pytest.param(["| a | b |", "|---|---|", *["| x | y |"] * 90], id="a long table"),
        pytest.param(["|" + "a|" * 1_500] * 3, id="a wide table"),
        pytest.param(["*" * depth + "a" for depth in range(0, 200, 9)], id="more and more stars"),
        pytest.param(["```py", *["x = {" * 20] * 30], id="a long block"),
        pytest.param(["`" * depth for depth in range(3, 200, 7)], id="fences of every length"),
    ],
)
def test_an_answer_costs_no_more_per_line_the_longer_it_is(lines: list[str]) -> None:
    stream = MarkdownStream(WIDTH)
    for line in lines:
        stream.feed(f"{line}\n")
        assert steps(stream.settle) < MOST_STEPS


def test_a_search_in_a_million_lines_stops_at_the_most_that_are_shown() -> None:
    found = Search("a")
    lines = ["a"] * 100_000
    assert steps(lambda: found.matches(lines)) < 10 * MOST + MOST_STEPS
    assert MOST_LEXED < MOST_STEPS
