"""Lines of any length: what a key or a frame costs is bounded, and what is in sight is drawn as ever."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment

from themes.loader import load_theme
from tui.chat.transcript.markdown import LONGEST_SHOWN, MarkdownStream
from tui.editor.colouring import Colouring
from tui.editor.drawing import LONG, LineLook, draw_line, in_sight
from tui.screen.drawing.code import LONGEST_LEXED, MOST_LEXED, drawable, lex, lexer_for
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import untabbed
from tui.screen.drawing.rows import Breaks, Row, Span, cut, pieces, wrap

PALETTE = Palette(load_theme("dark"))
WIDTH, NUMBER_WIDTH = 60, 3
SHAPES = {
    "code": "f(a,b+1);",
    "words": "word ",
    "tabs": "\t",
    "wide": "漢",
    "joined": "e\u0301",
    "brackets": "(",
    "quotes": "'",
    "control": "\x1b[",
}


def look(line: str, spans: Sequence[Span], **more: object) -> LineLook:
    given = {"cursor": None, "selected": None, **more}
    return LineLook(
        number=1,
        spans=spans,
        removed=False,
        landed="",
        conflict=False,
        current=False,
        **given,  # type: ignore[arg-type]
    )


def drawn(asked: LineLook, line: str, scroll_x: int) -> list[Segment]:
    return list(Segment.simplify(draw_line(asked, line, PALETTE, WIDTH, NUMBER_WIDTH, scroll_x)))


@given(
    st.text(st.sampled_from("ab (漢é"), min_size=1, max_size=40),
    st.integers(0, 12_000),
    st.integers(0, 9_000),
    st.integers(0, 300),
)
def test_the_part_in_sight_is_drawn_as_in_the_whole_line(
    text: str, scroll_x: int, at: int, count: int
) -> None:
    line = (text * (LONG // len(text) + 200))[: LONG + 5_000]
    spans = [(line[:LONG], ".keyword"), (line[LONG:], ".text")]
    asked = look(line, spans, cursor=at, selected=(at, at + count), matches=[(at, at + 3)])
    assert drawn(*in_sight(asked, line, scroll_x, WIDTH)) == drawn(asked, line, scroll_x)


@pytest.mark.parametrize("shape", SHAPES)
def test_drawing_a_line_of_megabytes_makes_few_pieces(shape: str) -> None:
    line = (SHAPES[shape] * 300_000)[:900_000]
    colouring = Colouring()
    colouring.reset("a.js", 1)
    colouring.prepare(lambda row: line, 0, 1)
    spans = colouring.of(0)
    assert (
        spans is not None and "".join(text for text, _ in spans) == line and len(spans) <= LONGEST_LEXED + 1
    )
    for scroll_x in (0, 5_000, 400_000):
        part, text, _ = in_sight(look(line, spans), line, scroll_x, WIDTH)
        assert len(text) < 3 * LONG and len(part.spans) <= len(text)


@pytest.mark.parametrize(("length", "count"), [(3_999, 60), (500, 100), (100_000, 40)])
def test_rows_in_sight_are_coloured_up_to_a_number_of_characters(length: int, count: int) -> None:
    lines = ["x=1;" * (length // 4)] * count
    rows = lex(lexer_for(path="a.js"), lines, most=MOST_LEXED)
    coloured = sum(len(text) for row in rows for text, role in row if role != ".text")
    whole = sum(len(line) for line in lines)
    assert coloured <= MOST_LEXED < whole


def test_a_tail_that_grows_draws_no_more_than_its_beginning() -> None:
    for opening in ("", "```js\n"):
        stream = MarkdownStream(80)
        stream.feed(opening)
        for _ in range(15):
            stream.feed("function f(a,b){return a+b};" * 1_000)
            stream.settle()
        assert len(stream.rows) < LONGEST_SHOWN / 40
        assert " … 370,000 more" in "".join(row.text for row in stream.rows)
        (copied,) = {row.raw for row in stream.rows if row.raw}
        assert copied == "function f(a,b){return a+b};" * 15_000


@given(st.lists(st.text("ab", max_size=5), max_size=8), st.lists(st.integers(0, 40), max_size=8))
def test_pieces_are_what_cutting_each_gives(texts: list[str], ends: list[int]) -> None:
    spans = [(text, str(at)) for at, text in enumerate(texts)]
    wanted = [(start, end) for start, end in pairwise(sorted(ends)) if start < end]
    assert list(pieces(spans, wanted)) == [cut(spans, start, end) for start, end in wanted]


@given(st.text("a漢\t", max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_tabs_end_at_the_same_cells_however_a_line_is_cut(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(min(each, len(text)) for each in cuts)})
    spans = [(text[start:end], "text") for start, end in pairwise(places)]
    assert "".join(piece for piece, _ in drawable(spans)) == untabbed(text)


def test_wrapping_goes_through_the_spans_once() -> None:
    gone = []

    class Counted(list[Span]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            gone.append(len(self))
            return super().__iter__()

    spans = Counted([("ab ", "text")] * 10_000)
    rows = wrap(spans, 80, by=Breaks.CODE)
    assert len(rows) > 300 and len(gone) <= 3
    assert isinstance(rows[0], Row)
