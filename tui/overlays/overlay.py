"""The base of screens that cover the panes and follow the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

if TYPE_CHECKING:
    from session.events import Event
    from tui.drawing.palette import Palette


class Overlay(ModalScreen[str | None], inherit_bindings=False):
    """A screen over the panes that follows the session while it is shown."""

    def take(self, event: Event) -> None:
        """Handle an event of the session."""

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""

    def back(self) -> bool:
        """Go one step back inside the screen; false when there is nothing to go back from."""
        return False
