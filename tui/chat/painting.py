"""Draws the lines of the chat: its rows, and over and beside them matches, selection, cursor, scroll bar."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip

from tui.chat.read_view import Page, ReadView
from tui.chat.reading import Reading
from tui.chat.reading_keys import ReadingKeys
from tui.front.keys.keymap import shown
from tui.screen.drawing.framed_lines import FramedLines, FramedView
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, cells_to, clipped, visible
from tui.screen.drawing.rows import Row, overlaid

_NO_ROW = Row([])
"""Drawn between the entries, and behind the last."""
Thumb = tuple[int, int] | None
"""The lines of the thumb of the scroll bar; None while the bar is hidden."""


def read_over(
    strip: Strip, row: Row, number: int, reading: Reading, palette: Palette, *, focused: bool
) -> Strip:
    """``strip``, which shows ``row``, with what is read in it: matches, the selection and the cursor."""
    text = row.text
    for start, end in reading.matches_in(number):
        strip = overlaid(strip, cells_to(text, start), cells_to(text, end), palette.match)
    if (selected := reading.selected_in(number)) is not None:
        start, end = (cells_to(text, column) for column in selected)
        # A blank line shows that it is selected, too.
        strip = overlaid(strip, start, max(end, start + 1), palette.selection)
    cursor = reading.point(reading.cursor) if focused else None
    if cursor is not None and cursor[0] == number:
        at = cells_to(text, cursor[1])
        under = text[cursor[1] : cursor[1] + 1]
        strip = overlaid(strip, at, at + max(1, cell_len(under)), palette.cursor)
        strip = Strip.join([Strip([Segment("▶", palette.style("accent"))], 1), strip.crop(1)])
    return strip


def hint(text: str, width: int, palette: Palette) -> Strip:
    """A remark at the right of a line of the pane."""
    text = clipped(text, width)
    pad = " " * (width - cell_len(text))
    return Strip(
        [Segment(pad, palette.style("text")), Segment(text, palette.style("accent", "panel"))], width
    )


def thumb(top: int, total: int, height: int) -> Thumb:
    """The thumb for ``height`` rows of ``total`` from row ``top`` on."""
    if total <= height:
        return None
    size = max(1, height * height // total)
    start = round(top * (height - size) / max(1, total - height))
    return start, start + size


def bar(drawn: Thumb, y: int, palette: Palette) -> Segment:
    """The cell of the scroll bar at line ``y``."""
    if drawn is None:
        return _cell(" ", palette.style("text"))
    start, end = drawn
    return _cell("┃" if start <= y < end else "│", palette.style("scrollbar"))


@lru_cache(maxsize=8)
def _cell(character: str, style: Style) -> Segment:
    """One segment for all rows, which are kept with it."""
    return Segment(character, style)


class PaintedView(ReadView, FramedView, Protocol):
    """The chat pane as its lines are drawn."""

    palette: Palette
    page: Page | None
    keys: ReadingKeys
    has_focus: Any


class LinePainter:
    """Draws the lines of one chat pane."""

    def __init__(self, view: PaintedView) -> None:
        self._view = view
        self._framed = FramedLines(view)
        self.drawn_top = view.top
        """The transcript row at the pane's first line, as it was drawn last."""
        self.drawn_thumb: Thumb = None
        """The thumb of the scroll bar, as it was drawn last."""

    @property
    def thumb(self) -> Thumb:
        """The thumb as it is to be drawn; there is none while the pane follows the end."""
        view = self._view
        return None if view.following else thumb(view.top, view.transcript.total, view.size.height)

    def moved(self) -> int:
        """By how many rows the pane moved on since this was asked last."""
        by, self.drawn_top = self._view.top - self.drawn_top, self._view.top
        return by

    def line(self, y: int) -> Strip:
        """One line of the pane, inside of its border."""
        return self._line(self._view.size, y)

    def _line(self, size: Size, y: int) -> Strip:
        view = self._view
        width, height = size
        if y == height - 1:
            below = view.transcript.total - view.top - height
            more = f"↓ {below} more · {shown('to_end', 'chat')} " if below > 0 and not view.following else ""
            if told := visible(view.keys.line) or more:
                return hint(told, width, view.palette)
        if view.page is not None and not view.transcript.total:
            return view.page.line(y, size, view.palette)
        if y == 0:
            self.drawn_thumb = self.thumb
        body, behind = max(0, width - 1), bar(self.drawn_thumb, y, view.palette)
        number = view.top + y
        row = view.transcript.row(number) or _NO_ROW
        if row is _NO_ROW or view.reading.is_idle:
            return row.strip(view.palette, body, behind)
        strip = row.strip(view.palette, body)
        strip = read_over(strip, row, number, view.reading, view.palette, focused=view.has_focus)
        return Strip([*strip, behind], width)

    def lines(self, crop: Region, framed: Callable[[Region], list[Strip]]) -> list[Strip]:
        """The lines of ``crop``, border included; ``framed`` has Textual draw what is no line of the chat."""
        return self._framed.lines(crop, partial(self._line, self._view.size), framed)
