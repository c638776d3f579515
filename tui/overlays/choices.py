"""Rows of which the mouse can choose one, and that its wheel moves through."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui.overlays.lines import Lines


class Choices(Lines):
    """Lines of which the mouse can choose one."""

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class Turned(Message):
        """The wheel was turned."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def on_click(self, event: events.Click) -> None:
        """Choose."""
        self.post_message(self.Chosen(self.top + event.y))

    def on_mouse_scroll_down(self) -> None:
        """Go on."""
        self.post_message(self.Turned(3))

    def on_mouse_scroll_up(self) -> None:
        """Go back."""
        self.post_message(self.Turned(-3))
