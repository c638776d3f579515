"""The page shown instead of the editor when no file is open: a welcome, or why a file cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence

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


class Welcome(Widget):
    """A page of centred text."""

    def __init__(
        self, palette: Palette, folder: str, suggestions: Sequence[str] = (), *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._suggestions = suggestions
        self.palette = palette
        self._folder = folder
        self._problem = ""
        self._rows: list[Row] = []

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
            body = [row for row in body if row.spans][:height]
        self._rows = [Row([]) for _ in range(max(0, (height - len(body)) // 2))] + body
        self.refresh()

    def _problem_rows(self, width: int) -> list[Row]:
        lead: list[Span] = [("  ", "text")]
        return wrap([(visible(self._problem), "warning")], width - 2, first=lead, rest=lead)

    def _welcome(self, width: int) -> list[Row]:
        keys = [(shown(action, scope), told) for action, scope, told in _KEYS]
        named = max(len(key) for key, _ in keys)
        block = min(width, named + 3 + max(len(told) for _, told in keys))
        margin: Span = (" " * max(0, (width - block) // 2), "text")
        rows = [
            Row([margin, ("spark", "heading")]),
            *wrap([(visible(self._folder), "faint")], width, first=[margin], rest=[margin], words=False),
            Row([]),
            Row([margin, ("Say what should change; the edits land here.", "muted")]),
            *self._suggested(margin, width),
            Row([]),
        ]
        for key, told in keys:
            rows.append(Row([margin, (f"{key:<{named}}   ", "strong"), (told, "muted")]))
        return rows

    def _suggested(self, margin: Span, width: int) -> list[Row]:
        """Suggested prompts; they are also in the history of the composer, the first one nearest."""
        if not self._suggestions:
            return []
        rows = [Row([]), Row([margin, ("To begin with, press ↑ for one of these:", "muted")])]
        for prompt in self._suggestions:
            first: list[Span] = [margin, ("· ", "faint")]
            rows += wrap([(visible(prompt), "text")], width - 2, first=first, rest=[margin, ("  ", "text")])
        return rows

    def render_line(self, y: int) -> Strip:
        """One line."""
        width = self.size.width
        row = self._rows[y] if y < len(self._rows) else Row([])
        return row.strip(self.palette, width)
