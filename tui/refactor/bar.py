"""The line in which the user says what to do with the selected lines."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tui.keys.key_order import run_key_in_order


class RefactorInput(Input):
    """The sentence. Enter gives it, Esc gives it up."""

    def __init__(self, answered: Callable[[str | None], None]) -> None:
        # What is typed before the focus is told must not be selected by it, and replaced by the next key.
        super().__init__(
            placeholder="what to do with them, in a sentence",
            select_on_focus=False,
            compact=True,
            id="refactor",
        )
        self.cursor_blink = False
        self._answered = answered

    async def on_key(self, event: events.Key) -> None:
        """See :mod:`tui.keys.key_order`."""
        if event.key in ("enter", "escape"):
            event.stop()
            event.prevent_default()
            self._answered(self.value if event.key == "enter" else None)
        else:
            await run_key_in_order(self, event)


class RefactorBar(Horizontal):
    """The bar under the panes; it is there as long as the sentence is typed."""

    DEFAULT_CSS = """
    RefactorBar { height: 1; }
    RefactorBar Static { width: auto; }
    RefactorBar Input { width: 1fr; }
    """

    def __init__(self, title: str, answered: Callable[[str | None], None]) -> None:
        super().__init__(id="refactor-bar")
        self._title = title
        self.field = RefactorInput(answered)

    def compose(self) -> ComposeResult:
        """What is selected, and the field."""
        yield Static(f" {self._title}: ", markup=False)
        yield self.field
