"""Styled text as plain data, wrapped to a width, and turned into a Strip only when painted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from textual.strip import Strip

from tui.drawing.palette import Palette

Span = tuple[str, str]
"""Text without line breaks, and its role (see :class:`tui.drawing.palette.Palette`)."""


class Row:
    """A screen row: its spans, the role that fills it, and its Strip once it was painted."""

    __slots__ = ("_strip", "fill", "spans")

    def __init__(self, spans: Sequence[Span], fill: str = "surface") -> None:
        self.spans = tuple(spans)
        self.fill = fill
        self._strip: tuple[Palette, int, Strip] | None = None

    def strip(self, palette: Palette, width: int) -> Strip:
        """The row in exactly ``width`` cells and the colours of ``palette``."""
        held = self._strip
        if held is None or held[0] is not palette or held[1] != width:
            blank = palette.style("text", self.fill)
            segments = [Segment(text, palette.style(role, self.fill)) for text, role in self.spans]
            held = (palette, width, Strip(segments).adjust_cell_length(width, blank))
            self._strip = held
        return held[2]

    @property
    def text(self) -> str:
        """The text of the row without styles."""
        return "".join(text for text, _ in self.spans)


def cut(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """The characters ``start`` to ``end`` of ``spans``, with their roles."""
    out: list[Span] = []
    at = 0
    for text, role in spans:
        stop = at + len(text)
        if stop > start and at < end:
            out.append((text[max(0, start - at) : end - at], role))
        at = stop
        if at >= end:
            break
    return out


def breaks(text: str, width: int, *, words: bool = True) -> list[tuple[int, int]]:
    """The (start, end) of each row of ``text`` wrapped to ``width`` cells. Rows break after a space where
    there is one (the space is dropped), else anywhere."""
    width = max(1, width)
    out: list[tuple[int, int]] = []
    start, ascii_only = 0, text.isascii()
    while True:
        fits = start + width if ascii_only else _fit(text, start, width)
        if fits >= len(text):
            out.append((start, len(text)))
            return out
        space = text.rfind(" ", start + 1, fits + 1) if words else -1
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
    words: bool = True,
) -> list[Row]:
    """``spans`` wrapped to ``width`` cells; ``first`` precedes the first row, ``rest`` the others."""
    text = "".join(piece for piece, _ in spans)
    lead = cell_len("".join(piece for piece, _ in first))
    rows = []
    for index, (start, end) in enumerate(breaks(text, width - lead, words=words)):
        rows.append(Row([*(rest if index else first), *cut(spans, start, end)], fill))
    return rows
