"""The base of screens that cover the panes and follow the session, and the widget of scrolling rows that they
show.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rich.segment import Segment
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from tui.screen.drawing.palette import Palette
from tui.screen.drawing.rows import Row

if TYPE_CHECKING:
    from session.base.events import Event


T = TypeVar("T")
ROWS = [(0, "-low"), (16, "-high")]
"""Classes of a screen by the rows of the terminal: a low one has none to leave empty."""


class ClosingScreen(ModalScreen[T]):
    """A screen that can be closed any number of times: several keys that close it may come in one read, and
    Textual raises where a screen is closed that is not on top any more."""

    VERTICAL_BREAKPOINTS = ROWS
    _left_already = False

    def __init__(self) -> None:
        super().__init__()
        self.takes_keys = asyncio.Event()
        """Set once there is something on the screen that takes keys, or the screen is closed."""
        self.on_closed: Callable[[T | None], None] = lambda result: None
        """Called with the result while the screen closes. The callback of Textual's ``push_screen`` comes
        only after the keys that wait in the app's queue."""

    def on_screen_resume(self) -> None:
        """Take keys once the focus is where it begins."""
        self.call_after_refresh(self.takes_keys.set)

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close the screen with ``result``; does nothing where it was closed before."""
        if self._left_already or not self.is_current:
            return AwaitComplete()
        self._left_already = True
        self.takes_keys.set()
        closing = super().dismiss(result)
        self.on_closed(result)
        return closing

    def back(self) -> bool:
        """Go one step back inside the screen; false when there is nothing to go back from."""
        return False


class Overlay(ClosingScreen[str | None], inherit_bindings=False):
    """A screen over the panes that follows the session while it is shown."""

    def take(self, event: Event) -> None:
        """Handle an event of the session."""

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""


class Lines(Widget, can_focus=False):
    """Rows that scroll; one of them may be chosen."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.rows: list[Row] = []
        self.top = 0
        self.on_sized: Callable[[], object] = lambda: None
        """Called when its size changed: rows may have to be made anew for its width."""

    def on_resize(self) -> None:
        """Tell of another size."""
        self.on_sized()

    def show(self, rows: list[Row], *, keep: int = 0) -> None:
        """Show other rows, with row ``keep`` in sight."""
        self.rows = rows
        height = max(1, self.size.height)
        if not self.top <= keep < self.top + height:
            self.top = max(0, keep - height // 2)
        self.top = max(0, min(self.top, len(rows) - height))
        self.refresh()

    def move(self, by: int) -> None:
        """Scroll."""
        self.top = max(0, min(self.top + by, len(self.rows) - self.size.height))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        at, width = self.top + y, self.size.width
        if at < len(self.rows):
            return self.rows[at].strip(self.palette, width)
        return Strip([Segment(" " * width, self.palette.style("text", "panel"))], width)
