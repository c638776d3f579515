"""The list of the project's sessions: find one, resume it, fork it, name it, or write it as a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from textual import events
from textual.content import Content
from textual.widgets import Input

from tui.app.overlays.pick_screen import PickScreen
from tui.front.matching import Choice
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import visible

Wish = Literal["rename", "fork", "export"]
_KEYS: dict[str, Wish] = {"f2": "rename", "f3": "fork", "ctrl+b": "fork", "ctrl+s": "export"}
"""Ctrl+B alone would be out of reach in tmux, whose prefix it is."""
_HINT = "Enter resumes · F2 renames · F3 forks · Ctrl+S exports · Esc leaves"
_NAMING = "Enter names it · Esc goes back"


class SessionsScreen(PickScreen):
    """The sessions, newest first. The result is the one to resume; other wishes are told while it is open."""

    def __init__(
        self, palette: Palette, choices: Sequence[Choice], wished: Callable[[Wish, str, str], None]
    ) -> None:
        """``wished`` gets a wish, the session's name, and its new title."""
        super().__init__(palette, "Sessions", choices, hint=_HINT, empty="no session has that")
        self._wished = wished
        self._naming = ""
        """The session that is being named."""
        self._filter = ""
        """What was typed to filter before a session was named."""

    def tell(self, line: str) -> None:
        """Tell what came of a wish, while the list is shown."""
        if self.is_mounted:
            self.query_one("#box").border_subtitle = Content(visible(line))

    def back(self) -> bool:
        """Do not name the session after all."""
        naming = bool(self._naming)
        if naming:
            self._ask("")
        return naming

    def on_key(self, event: events.Key) -> None:
        """Take a wish about the chosen session; no key moves the choice while one is named."""
        wish = _KEYS.get(event.key)
        if wish is None and not self._naming:
            return  # the list moves the choice
        event.prevent_default()
        if wish is None or self._naming or self.chosen is None:
            return
        event.stop()
        if wish == "rename":
            self._ask(self.chosen.value, self.chosen.name)
        else:
            self._wished(wish, self.chosen.value, "")

    def on_input_changed(self, event: Input.Changed) -> None:
        """A title filters nothing."""
        if self._naming:
            event.prevent_default()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Name the session that is being named."""
        if self._naming:
            event.prevent_default()
            self._wished("rename", self._naming, " ".join(event.value.split()))
            self._ask("")

    def _ask(self, session: str, title: str = "") -> None:
        """Ask for the title of ``session``; of none, go back to the list."""
        field, box = self.query_one(Input), self.query_one("#box")
        if session and not self._naming:
            self._filter = field.value
        elif not session:
            title = self._filter
        self._naming = session
        field.value = title
        field.cursor_position = len(title)
        field.placeholder = "type a title; none shows the first prompt" if session else "type to filter"
        box.border_title = Content(f"Name {session}" if session else "Sessions")
        self.hint(_NAMING if session else _HINT)
