"""The base of screens that cover the panes and follow the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

if TYPE_CHECKING:
    from session.base.events import Event
    from tui.screen.drawing.palette import Palette


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
