"""What lies over the panes for a moment, as far as the app must know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

if TYPE_CHECKING:
    from session.events import Event
    from tui.drawing.palette import Palette


class Overlay(ModalScreen[str | None], inherit_bindings=False):
    """A screen over the panes that follows the session while it is shown."""

    def take(self, event: Event) -> None:
        """Something happened in the session."""

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""

    def back(self) -> bool:
        """Close what is open in it; whether there was something."""
        return False
