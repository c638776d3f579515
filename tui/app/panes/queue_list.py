"""The messages that wait, above the composer: shown, and each can be edited, taken back or sent at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from session.base.waiting_prompts import WaitingPrompts
from tui.front.keys.key_order import run_key_in_order
from tui.front.keys.keymap import bindings, shown
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import clipped, visible

if TYPE_CHECKING:
    from session.base import events as said

MOST_ROWS = 4
"""Messages that are shown at once."""

Wish = Literal["edit", "remove", "now"]


class QueueList(Widget, can_focus=True):
    """One row for each message that waits; nothing where none does."""

    BINDINGS = bindings("queue")

    class Asked(Message):
        """What the user wants of the message with this number: 0 waits for a hunk, from 1 on for the turn."""

        def __init__(self, wish: Wish, number: int) -> None:
            super().__init__()
            self.wish, self.number = wish, number

    class Left(Message):
        """The user goes back to the composer."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._waiting = WaitingPrompts()
        self._chosen = 0
        self.display = False

    def take(self, event: said.Event) -> None:
        """Follow one event of the session."""
        if self._waiting.take(event):
            self._lay_out()

    @property
    def messages(self) -> list[tuple[int, str]]:
        """The messages and their numbers, in the order in which they are sent."""
        return self._waiting.listed

    def _lay_out(self) -> None:
        count = len(self.messages)
        self._chosen = max(0, min(self._chosen, count - 1))
        self.display = count > 0
        if not count and self.has_focus:
            self.post_message(self.Left())
        self.styles.height = min(count, MOST_ROWS) + (1 if self.has_focus else 0)
        self.refresh(layout=True)

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show the keys, or how to come here."""
        super().watch_has_focus(has_focus)
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        """One message, or the line of keys below them."""
        width, messages = self.size.width, self.messages
        top = max(0, min(self._chosen - MOST_ROWS + 1, len(messages) - MOST_ROWS)) if self.has_focus else 0
        if y >= min(len(messages), MOST_ROWS):
            line, role = "   Enter edits · x removes · n sends it now · Esc back", "status_key"
        else:
            number, text = messages[top + y]
            when = (
                "after this hunk"
                if number == 0
                else "next turn"
                if number == 1
                else f"turn {number} from now"
            )
            mark = "❯" if self.has_focus and top + y == self._chosen else "+"
            line, role = f" {mark} {when}: {visible(' '.join(text.split()))}", "muted"
            hidden = len(messages) - MOST_ROWS
            if y == 0 and not self.has_focus:
                more = f" (+{hidden} more)" if hidden > 0 else ""
                keys = f"{more}  {shown('queue')} edits"
                line = clipped(line, max(8, width - len(keys))) + keys
        style = self._palette.style(role)
        return Strip([Segment(clipped(line, width), style)]).adjust_cell_length(width, style)

    async def on_key(self, event: events.Key) -> None:
        """Act on the keys of the list; every other key does nothing here."""
        event.stop()
        event.prevent_default()
        await run_key_in_order(self, event)

    def action_move(self, by: int) -> None:
        """Choose another message."""
        self._chosen = max(0, min(self._chosen + by, len(self.messages) - 1))
        self.refresh()

    def action_ask(self, wish: Wish) -> None:
        """Edit the chosen message, remove it, or send it now."""
        if self._chosen < len(self.messages):
            self.post_message(self.Asked(wish, self.messages[self._chosen][0]))

    def action_leave(self) -> None:
        """Go back to the composer."""
        self.post_message(self.Left())
