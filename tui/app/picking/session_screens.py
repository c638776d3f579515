"""Screens that choose a session: the list of the project's sessions, to find, resume, fork, name or write one
as a document; and the question where another spark works in this folder and its terminal has gone silent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from tui.app.overlays.overlay import ClosingScreen, Lines
from tui.app.overlays.pick_screen import PickScreen
from tui.front.matching import Choice
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import visible
from tui.screen.drawing.rows import Row, Span, wrap

ListWish = Literal["rename", "fork", "export"]
_LIST_KEYS: dict[str, ListWish] = {"f2": "rename", "f3": "fork", "ctrl+b": "fork", "ctrl+s": "export"}
"""Ctrl+B alone would be out of reach in tmux, whose prefix it is."""
_HINT = "Enter resumes · F2 renames · F3 forks · Ctrl+S exports · Esc closes"
_NAMING = "Enter names it · Esc goes back"
ElsewhereWish = Literal["follow", "take over"]
UNREAD = 0.7
"""Seconds for which Enter and T do nothing: a key that was on its way was not meant for this question."""
_ELSEWHERE_KEYS: dict[str, ElsewhereWish] = {"enter": "follow", "t": "take over", "T": "take over"}
_ELSEWHERE_HINT = "Enter follows it · T takes it over · Esc begins anew"
_ROWS = 3


class SessionsScreen(PickScreen):
    """The sessions, newest first. The result is the one to resume; other wishes are told while it is open."""

    def __init__(
        self, palette: Palette, choices: Sequence[Choice], wished: Callable[[ListWish, str, str], None]
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
        wish = _LIST_KEYS.get(event.key)
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


class ElsewhereScreen(ClosingScreen[ElsewhereWish | None]):
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
            box.border_subtitle = Content(_ELSEWHERE_HINT)
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
        wish = _ELSEWHERE_KEYS.get(event.key)
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
