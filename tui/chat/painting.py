"""Draws the lines of the chat: its rows, and over and beside them matches, selection, cursor, scroll bar; and
wraps them for another width.

A long conversation is wrapped in slices: what is in sight first, and keys are heard between. Until its turn
comes an entry keeps the rows of the old width.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from time import monotonic
from typing import Any, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip

from tui.chat.read_view import Page, ReadView
from tui.chat.reading import Move, Reading
from tui.chat.reading_keys import ReadingKeys
from tui.chat.transcript.entries import Entry
from tui.front.keys.keymap import shown
from tui.screen.drawing.framed_lines import FramedLines, FramedView
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, cells_to, clipped, visible
from tui.screen.drawing.rows import Row, overlaid

_NO_ROW = Row([])
"""Drawn between the entries, and behind the last."""
Thumb = tuple[int, int] | None
"""The lines of the thumb of the scroll bar; None while the bar is hidden."""
SLICE = 0.004
"""Seconds of work before other work has its turn, and of rest between two slices."""


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


class Rewrapping:
    """Wraps the entries of one chat pane. What is read stays where it is: the first row in sight, the cursor,
    the selection."""

    def __init__(self, view: ReadView, painter: LinePainter) -> None:
        self._view = view
        self._painter = painter
        self._handle: asyncio.TimerHandle | None = None
        self._entry: Entry | None = None
        """The entry that is being wrapped, and the steps that are left of that."""
        self._steps: Iterator[None] = iter(())

    def begin(self, width: int) -> None:
        """The pane has another size: wrap for ``width`` cells."""
        self.cancel()
        view = self._view
        view.transcript.width = width
        view.transcript.settle()
        self._slice()
        self._stay_in_sight()
        view.refresh()

    def cancel(self) -> None:
        """Wrap no more."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._entry = None

    def _slice(self) -> None:
        view = self._view
        rows = view.transcript
        first = view.reading.spot(view.top)
        offset = view.top - (view.reading.point(first) or (view.top, 0))[0]
        in_sight, total = self._in_sight(), rows.total
        moves, left = self._wrap(in_sight, monotonic() + SLICE)
        if moves:
            rows.recount()
            view.reading.move_places(moves)
            seen = any(entry in moves for entry in rows.entries[in_sight.start : in_sight.stop])
            point = view.reading.point(view.reading.moved(first, moves))
            if view.following:
                self._scroll_to(view.top + rows.total - total)
            elif point is not None:
                self._scroll_to(point[0] + offset)
            if seen:
                self._stay_in_sight()
            if seen or self._painter.thumb != self._painter.drawn_thumb:
                view.refresh()
        self._handle = asyncio.get_running_loop().call_later(SLICE, self._slice) if left else None

    def _scroll_to(self, top: int) -> None:
        """Have row ``top`` first, which shows what the first row showed."""
        self._painter.drawn_top += top - self._view.top
        self._view.top = top

    def _stay_in_sight(self) -> None:
        view = self._view
        end = max(0, view.transcript.total - view.size.height)
        view.top = end if view.following else max(0, min(view.top, end))

    def _in_sight(self) -> range:
        """The entries of which rows are in the pane, by their number."""
        view = self._view
        first, last = (
            view.transcript.number_at(row) for row in (view.top, view.top + max(0, view.size.height - 1))
        )
        return range(first, last + 1)

    def _wrap(self, in_sight: range, until: float) -> tuple[dict[Entry, Move], bool]:
        """Wrap the nearest entries. Returns the rows that changed, and whether there is more to do."""
        rows = self._view.transcript
        known = enumerate(rows.entries[: rows.settled])
        waiting = [(number, entry) for number, entry in known if entry.width != rows.width]
        waiting.sort(key=lambda each: max(in_sight.start - each[0], each[0] - in_sight.stop + 1, 0))
        if any(entry is self._entry for _, entry in waiting):
            waiting.sort(key=lambda each: each[1] is not self._entry)
        moves: dict[Entry, Move] = {}
        for _, entry in waiting:
            if entry is not self._entry:
                self._entry, self._steps = entry, entry.rewrap(rows.width)
            while True:
                before = entry.rows
                if next(self._steps, self) is self:
                    break
                if monotonic() > until:
                    return moves, True
            self._entry = None
            moves[entry] = Move(before, entry.rows)
            if monotonic() > until:
                return moves, len(moves) < len(waiting)
        return moves, False
