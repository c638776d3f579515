"""Styled text as plain data, wrapped to a width, and turned into a Strip only when painted."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate, pairwise

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len

Span = tuple[str, str]
"""Text without line breaks, and its role (see :class:`tui.screen.drawing.palette.Palette`)."""


DRAWN_ONLY = -1
"""As ``Row.skip``: the row is no part of any text."""


class Row:
    """A screen row: its spans, and the role that fills it.

    For copying it also knows the line that it shows. The first ``skip`` characters are drawn and are no part
    of that. ``joint`` is None where a line begins; else the row goes on the line of the row above, behind
    that ``joint`` (the space at which it was wrapped, or nothing). ``raw`` is the whole line as it was
    written, where it is drawn in another way. Rows that are drawn alike are equal.
    """

    # Thousands of rows are kept: a string for each of its spans would take three times the memory.
    __slots__ = ("_ends", "_roles", "fill", "joint", "raw", "skip", "text")

    def __init__(
        self,
        spans: Sequence[Span],
        fill: str = "surface",
        *,
        skip: int = 0,
        joint: str | None = None,
        raw: str | None = None,
    ) -> None:
        self.text = "".join(text for text, _ in spans)
        """The text of the row without styles."""
        # No tuples of as many members as there are spans: of each length up to 20 Python keeps up to 2,000
        # that were freed, and rows of code have any number of spans.
        self._ends = array("I", accumulate([len(text) for text, _ in spans]))
        self._roles = _roles("".join([f"\n{role}" for _, role in spans]))
        self.fill = fill
        self.skip = skip
        self.joint = joint
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        mine = (self.text, self._ends, self._roles, self.fill)
        return mine == (other.text, other._ends, other._roles, other.fill)

    def __hash__(self) -> int:
        return hash((self.text, self._roles, self.fill))

    def strip(self, palette: Palette, width: int, *behind: Segment) -> Strip:
        """The row in exactly ``width`` cells and the colours of ``palette``, and what is ``behind`` it."""
        return _painted(self, palette, width, *behind)

    @property
    def spans(self) -> list[Span]:
        """The pieces of its text with their roles."""
        pieces = (self.text[start:end] for start, end in pairwise([0, *self._ends]))
        return list(zip(pieces, self._roles, strict=True))


@lru_cache(maxsize=4096)
def _roles(joined: str) -> tuple[str, ...]:
    """One tuple for all rows with the same roles, each of which is given behind a line break."""
    return tuple(joined.split("\n")[1:])


@lru_cache(maxsize=256)  # some screens of rows: a strip takes several times the memory of its row
def _painted(row: Row, palette: Palette, width: int, *behind: Segment) -> Strip:
    segments = [Segment(text, palette.style(role, row.fill)) for text, role in row.spans]
    free = width - cell_len(row.text)
    if free > 0:
        segments.append(Segment(" " * free, palette.style("text", row.fill)))
    elif free:
        segments = list(Strip(segments).adjust_cell_length(width))
    return Strip([*segments, *behind], width + sum(each.cell_length for each in behind))


def cut(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """The characters ``start`` to ``end`` of ``spans``, with their roles."""
    return next(pieces(spans, [(start, end)]))


def pieces(spans: Iterable[Span], wanted: Iterable[tuple[int, int]]) -> Iterator[list[Span]]:
    """For each of ``wanted``, which ascend, the characters from its start to its end, with their roles. The
    spans are gone through once."""
    left = iter(spans)
    text, role, at = "", "", 0
    for start, end in wanted:
        out: list[Span] = []
        while True:
            stop = at + len(text)
            if stop > start and at < end:
                out.append((text[max(0, start - at) : end - at], role))
            if stop >= end:
                break
            following = next(left, None)
            if following is None:
                break
            (text, role), at = following, stop
        yield out


class Breaks(Enum):
    """Where a line that does not fit is broken."""

    WORDS = "at the last space that fits"
    CODE = "at a space near the end of the row, else anywhere"
    ANYWHERE = "after the last character that fits"


CODE_FREE = 20
"""Most cells that the break of a line of code leaves free; no more than a quarter of the row, as in Helix."""


def breaks(text: str, width: int, by: Breaks = Breaks.WORDS) -> list[tuple[int, int]]:
    """The (start, end) of each row of ``text`` wrapped to ``width`` cells. The space at which a row breaks is
    dropped; where no space fits, it breaks anywhere."""
    width = max(1, width)
    free = {Breaks.WORDS: width, Breaks.CODE: min(CODE_FREE, width // 4), Breaks.ANYWHERE: 0}[by]
    out: list[tuple[int, int]] = []
    start, ascii_only = 0, text.isascii()
    while True:
        fits = start + width if ascii_only else _fit(text, start, width)
        if fits >= len(text):
            out.append((start, len(text)))
            return out
        space = text.rfind(" ", max(start + 1, fits - free), fits + 1) if free else -1
        if space > start and text[start:space].strip():
            out.append((start, space))
            start = space + 1
        else:
            out.append((start, fits))
            start = fits


def _fit(text: str, start: int, width: int) -> int:
    """The first character from ``start`` that does not fit; at least one further."""
    used = 0
    for index in range(start, len(text)):
        used += get_character_cell_size(text[index])
        if used > width:
            return max(index, start + 1)
    return len(text)


def wrap(
    spans: Sequence[Span],
    width: int,
    *,
    first: Sequence[Span] = (),
    rest: Sequence[Span] = (),
    fill: str = "surface",
    by: Breaks = Breaks.WORDS,
    raw: str | None = None,
    margin: int | None = None,
) -> list[Row]:
    """``spans`` wrapped to ``width`` cells; ``first`` precedes the first row, ``rest`` the others.

    Nothing of these is copied, but for what of ``first`` is behind ``margin`` characters, where that is
    given. ``raw`` is the line as it was written.
    """
    text = "".join(piece for piece, _ in spans)
    opening = "".join(piece for piece, _ in first)
    lead, skip = cell_len(opening), len(opening) if margin is None else margin
    hang = sum(len(piece) for piece, _ in rest)
    rows: list[Row] = []
    stop = 0
    places = breaks(text, width - lead, by)
    for (start, end), piece in zip(places, pieces(spans, places), strict=True):
        if rows:
            spaced = text[stop:start]
            rows.append(Row([*rest, *piece], fill, skip=hang, joint=spaced))
        else:
            rows.append(Row([*first, *piece], fill, skip=skip, raw=raw))
        stop = end
    return rows


def overlaid(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """``strip`` with ``style`` on the cells ``start`` to ``end``."""
    middle = [Segment(text, (was or Style()) + style) for text, was, _ in strip.crop(start, end)]
    return Strip.join([strip.crop(0, start), Strip(middle), strip.crop(end, strip.cell_length)])
