"""How the panes share the terminal: beside each other, above each other, or one alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual.geometry import Size
from textual.screen import Screen

from tui.panes.blank import Blank
from tui.panes.chat.chat import ChatView
from tui.panes.composer.composer import Composer
from tui.panes.composer.suggestions import Suggestions
from tui.panes.editor.editor import EditorPane
from tui.panes.status import StatusLine

STACKED_BELOW = 100
"""Columns below which the panes stand above each other."""
LOW_BELOW = 16
"""Rows below which one pane is shown alone."""
SMALLEST = Size(20, 6)
"""The terminal below which nothing useful fits."""
LEAST, MOST = 20, 80
"""The editor's share of the room, in per cent."""

Pane = Literal["editor", "chat"]


@dataclass(frozen=True, slots=True)
class Panes:
    """The widgets of the app's own screen."""

    editor: EditorPane
    blank: Blank
    chat: ChatView
    composer: Composer
    status: StatusLine
    suggestions: Suggestions

    @classmethod
    def of(cls, screen: Screen[object]) -> Panes:
        """The panes on ``screen``."""
        one = screen.query_one
        chat, composer, status = one(ChatView), one(Composer), one(StatusLine)
        return cls(one(EditorPane), one(Blank), chat, composer, status, one(Suggestions))


class Arrangement:
    """Decides by the terminal's size and the user's wishes; the style sheet does the rest by class."""

    def __init__(self, screen: Callable[[], Screen[object]], size: Size) -> None:
        self._screen = screen
        self._size = size
        self._share = 58
        self._alone: Pane | None = None

    def resize(self, size: Size) -> None:
        """The terminal has another size."""
        self._size = size
        self._apply()

    def share(self, by: int) -> None:
        """Give the editor ``by`` per cent more of the room."""
        self._share = max(LEAST, min(MOST, self._share + by))
        self._apply()

    def zoom(self, pane: Pane) -> None:
        """Show ``pane`` alone, or both again."""
        self._alone = None if self._alone else pane
        self._apply()

    def bring(self, pane: Pane) -> None:
        """Bring ``pane`` into sight, if only one is shown."""
        if self._alone or self._low:
            self._alone = pane
            self._apply()

    @property
    def _low(self) -> bool:
        return self._size.height < LOW_BELOW

    def _apply(self) -> None:
        width, height = self._size
        alone = self._alone or ("chat" if self._low else None)
        stacked = width < STACKED_BELOW and alone is None
        screen = self._screen()
        screen.set_class(width < SMALLEST.width or height < SMALLEST.height, "too-small")
        screen.set_class(self._low, "low")
        screen.set_class(stacked, "stacked")
        screen.set_class(alone == "editor", "only-editor")
        screen.set_class(alone == "chat", "only-chat")
        for pane in screen.query("EditorPane, Blank"):
            pane.styles.width = None if stacked or alone else f"{self._share}%"
            # Stacked, the chat needs a little more than beside: its lines are wider than they are many.
            pane.styles.height = f"{self._share - 6}%" if stacked else None
