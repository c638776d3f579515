"""The mouse in the chat: drag to select, click to choose a hunk, twice for a word, three times for a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Offset

from tui.chat.read_view import ReadView
from tui.chat.reading import Spot
from tui.chat.reading_keys import ReadingKeys
from tui.chat.transcript.entries import HunkEntry
from tui.screen.drawing.plain import column_at

if TYPE_CHECKING:
    from textual.timer import Timer


EDGE_SCROLL = 0.05
"""Seconds between the rows that the view scrolls while the mouse is held above or below it."""


class ChatMouse:
    """Follows the mouse over one chat pane."""

    def __init__(self, view: ReadView, keys: ReadingKeys) -> None:
        self._view = view
        self._keys = keys
        self._pressed: Spot | None = None
        self._dragging = False
        self._at = Offset()
        self._scrolling: Timer | None = None

    def down(self, event: events.MouseDown) -> None:
        """A button was pressed: what is selected is selected no more."""
        if event.button != 1:
            return
        view = self._view
        view.capture_mouse()
        self._pressed, self._dragging = self._spot(self._inside(event)), False
        if view.reading.anchor is not None:
            view.reading.anchor = None
            view.refresh()

    def moved(self, event: events.MouseMove) -> None:
        """The mouse was moved: with the button held, select up to there."""
        if self._pressed is None or not event.button:
            return
        self._at = self._inside(event)
        self._extend()
        outside = not 0 <= self._at.y < self._view.size.height
        if outside and self._scrolling is None:
            self._scrolling = self._view.set_interval(EDGE_SCROLL, self._scroll)
        elif not outside:
            self._stop_scrolling()

    def up(self) -> None:
        """The button was let go."""
        view = self._view
        view.release_mouse()
        self._stop_scrolling()
        pressed, self._pressed = self._pressed, None
        if pressed is not None and not self._dragging:
            chosen = isinstance(pressed.entry, HunkEntry)
            view.reading.cursor = pressed if chosen else None
            view.refresh()

    def clicked(self, event: events.Click) -> None:
        """Clicked several times: select a word or a line, or go to the hunk."""
        spot = self._spot(self._inside(event))
        if spot is None or event.chain < 2:
            return
        view = self._view
        if isinstance(spot.entry, HunkEntry):
            view.reading.cursor = spot
            self._keys.enter()
        elif event.chain == 2:
            view.reading.select_word(spot)
        else:
            view.reading.select_line(spot)
        view.refresh()

    def _extend(self) -> None:
        reading, pressed = self._view.reading, self._pressed
        spot = self._spot(self._at)
        if spot is None or pressed is None or (spot == pressed and not self._dragging):
            return
        if not self._dragging:
            self._dragging = True
            self._view.following = False
            reading.by_lines, reading.anchor = False, pressed
        reading.cursor = spot
        self._view.refresh()

    def _scroll(self) -> None:
        view, y = self._view, self._at.y
        if self._pressed is None or not view.is_attached:
            self._stop_scrolling()
            return
        view.scroll_rows_by(-1 if y < 0 else 1)
        view.following = False
        self._extend()

    def _stop_scrolling(self) -> None:
        if self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None

    def _inside(self, event: events.MouseEvent) -> Offset:
        """The cell of an event within the border."""
        return event.offset - self._view.gutter.top_left

    def _spot(self, cell: Offset) -> Spot | None:
        """The character at a cell of the pane, or the nearest one."""
        view = self._view
        number = view.top + max(0, min(cell.y, view.size.height - 1))
        row = view.transcript.row(number)
        return view.reading.spot(number, column_at(row.text, max(0, cell.x)) if row is not None else 0)
