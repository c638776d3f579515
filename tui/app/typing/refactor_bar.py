"""The line in which the user says what to do with the selected lines."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import Input

from tui.front.keys.key_order import run_key_in_order


class RefactorBar(Input):
    """The sentence, under the panes. Enter gives it, Esc gives it up."""

    DEFAULT_CSS = "RefactorBar { height: 1; }"

    def __init__(self, title: str, answered: Callable[[str | None], None]) -> None:
        """``title`` says which lines are meant; it stands there until something is typed."""
        # What is typed before the focus is told must not be selected by it, and replaced by the next key.
        super().__init__(placeholder=title, select_on_focus=False, compact=True, id="refactor")
        self.cursor_blink = False
        self._answered = answered

    async def on_key(self, event: events.Key) -> None:
        """See :mod:`tui.front.keys.key_order`."""
        if event.key in ("enter", "escape"):
            event.stop()
            event.prevent_default()
            self._answered(self.value if event.key == "enter" else None)
        else:
            await run_key_in_order(self, event)
