"""Rows that can be chosen by a click and scrolled through by the wheel."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui.app.overlays.lines import Lines


class Choices(Lines):
    """Lines that the mouse can choose from."""

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
        """Report the clicked row."""
        self.post_message(self.Chosen(self.top + event.y))

    def on_mouse_scroll_down(self) -> None:
        """Report a turn down."""
        self.post_message(self.Turned(3))

    def on_mouse_scroll_up(self) -> None:
        """Report a turn up."""
        self.post_message(self.Turned(-3))
