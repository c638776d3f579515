"""The page shown before the conversation begins: a welcome, or why a file cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tui.drawing.palette import Palette
from tui.drawing.plain import visible
from tui.drawing.rows import Row, Span, wrap
from tui.keys.keymap import shown

_KEYS = (
    ("send", "composer", "send, or redirect while it answers"),
    ("interrupt", "app", "stop at once"),
    ("open_file", "app", "open a file"),
    ("undo_hunk", "app", "undo the last hunk"),
    ("next_pane", "app", "next pane"),
    ("help", "app", "all keys"),
)
_PURPOSE = "Say what should change: the edits land in your files while the answer streams."

_WIDTH = 64
"""The cells that the text takes at most."""


class Welcome(Widget):
    """A page of centred text, which scrolls where it does not fit."""

    def __init__(
        self, palette: Palette, folder: str, suggestions: Sequence[str] = (), *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._suggestions = suggestions
        self.palette = palette
        self._folder = folder
        self._problem = ""
        self._rows: list[Row] = []
        self._top = 0

    def say(self, problem: str) -> None:
        """Show why a file cannot be shown; the welcome when ``problem`` is empty."""
        self._problem = problem
        self._lay()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self._lay()

    def on_resize(self) -> None:
        """Lay out for the new size."""
        self._lay()

    def _lay(self) -> None:
        width, height = self.size
        body = self._problem_rows(width) if self._problem else self._welcome(width)
        if len(body) > height:
            body = [row for row in body if row.spans]
        self._rows = [Row([]) for _ in range(max(0, (height - len(body)) // 2))] + body
        self._scroll(0)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by pages; 0 goes to the end."""
        self._scroll(pages * max(1, self.size.height - 2) if pages else len(self._rows))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down a few lines."""
        event.stop()
        self._scroll(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up a few lines."""
        event.stop()
        self._scroll(-3)

    def _scroll(self, by: int) -> None:
        # The last line of the page then tells that more is below; what it hides comes with the next page.
        self._top = max(0, min(self._top + by, len(self._rows) - self.size.height))
        self.refresh()

    @property
    def _hidden(self) -> int:
        """The rows below the page."""
        return len(self._rows) - self._top - self.size.height

    def _problem_rows(self, width: int) -> list[Row]:
        lead: list[Span] = [("  ", "text")]
        return wrap([(visible(self._problem), "warning")], width - 2, first=lead, rest=lead)

    def _welcome(self, width: int) -> list[Row]:
        keys = [(shown(action, scope), told) for action, scope, told in _KEYS]
        named = max(len(key) for key, _ in keys)
        block = min(width - 2, _WIDTH)
        left = max(0, (width - block) // 2)
        margin: Span = (" " * left, "text")
        width = left + block
        rows = [
            Row([margin, ("spark", "heading")]),
            *wrap([(visible(self._folder), "muted")], width, first=[margin], rest=[margin], words=False),
            Row([]),
            *wrap([(_PURPOSE, "muted")], width, first=[margin], rest=[margin]),
            *self._suggested(margin, width),
            Row([]),
        ]
        for key, told in keys:
            name: Span = (f"{key:<{named}}   ", "strong")
            hang: Span = (" " * (named + 3), "text")
            rows += wrap([(told, "muted")], width, first=[margin, name], rest=[margin, hang])
        return rows

    def _suggested(self, margin: Span, width: int) -> list[Row]:
        """Suggested prompts; they are also in the history of the composer, the first one nearest."""
        if not self._suggestions:
            return []
        rows = [Row([]), Row([margin, ("To begin with, press ↑ for one of these:", "muted")])]
        for prompt in self._suggestions:
            first: list[Span] = [margin, ("· ", "faint")]
            rows += wrap([(visible(prompt), "text")], width, first=first, rest=[margin, ("  ", "text")])
        return rows

    def render_line(self, y: int) -> Strip:
        """One line."""
        width = self.size.width
        at = self._top + y
        row = self._rows[at] if at < len(self._rows) else Row([])
        if y == self.size.height - 1 and self._hidden > 0:
            row = Row([(f"↓ {self._hidden + 1} more: PgDn".center(width), "faint")])
        return row.strip(self.palette, width)
