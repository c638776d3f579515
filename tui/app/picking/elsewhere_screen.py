"""Asks what to do where another spark works in this folder, and its terminal has gone silent."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from tui.app.overlays.lines import Lines
from tui.app.overlays.overlay import ClosingScreen
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import visible
from tui.screen.drawing.rows import Row, Span, wrap

Wish = Literal["follow", "take over"]
UNREAD = 0.7
"""Seconds for which Enter and T do nothing: a key that was on its way was not meant for this question."""
WISHES: dict[str, Wish] = {"enter": "follow", "t": "take over", "T": "take over"}
KEYS = "Enter follows it · T takes it over · Esc begins anew"
_ROWS = 3


class ElsewhereScreen(ClosingScreen[Wish | None]):
    """The result is what the user wishes, or None for a session of this process."""

    def __init__(
        self, palette: Palette, told: str, typed: Callable[[events.Key | events.Paste], None]
    ) -> None:
        """``told`` says what runs where. ``typed`` gets keys that are text, and pastes: they belong to the
        prompt, and close this screen."""
        super().__init__()
        self._told = told
        self._typed = typed
        self._lines = Lines(palette, id="lines")
        self._shown = monotonic()
        self._leaving = False

    def compose(self) -> ComposeResult:
        """The box and its line."""
        with Vertical(id="box") as box:
            box.border_title = Content("Another spark works here")
            box.border_subtitle = Content(KEYS)
            yield self._lines

    def on_mount(self) -> None:
        """Show what runs."""
        self._shown = monotonic()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    def on_key(self, event: events.Key) -> None:
        """Take the answer; text goes to the prompt."""
        event.stop()
        wish = WISHES.get(event.key)
        if self._leaving or (event.is_printable and wish is None):
            self._hand_on(event)
        elif wish is not None and monotonic() - self._shown >= UNREAD:
            self._leaving = True
            self.dismiss(wish)
        elif event.is_printable:
            self._hand_on(event)

    def on_paste(self, event: events.Paste) -> None:
        """Leave, with the paste in the prompt."""
        self._hand_on(event)

    @property
    def takes_text(self) -> bool:
        """A paste is taken, to be handed on."""
        return True

    def _hand_on(self, event: events.Key | events.Paste) -> None:
        self._typed(event)
        if not self._leaving:
            self._leaving = True
            self.dismiss(None)

    def _draw(self) -> None:
        width = max(1, self._lines.size.width - 2)
        lead: list[Span] = [("  ", "text")]
        rows = wrap([(visible(self._told), "text")], width, first=lead, rest=lead, fill="panel")
        self.query_one("#box").styles.height = len(rows) + _ROWS
        self._lines.show([Row([], "panel"), *rows], keep=0)
