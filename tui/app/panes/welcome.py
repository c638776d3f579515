"""The page that the chat shows before the conversation begins: a welcome, or why a file cannot be shown.

The chat draws it itself: with a pane of its own, the first prompt would have to wait until all panes were
laid out again.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.strip import Strip

from tui.front.keys.keymap import shown
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import visible
from tui.screen.drawing.rows import Breaks, Row, Span, wrap

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


class Welcome:
    """A page of centred text, which scrolls where it does not fit."""

    def __init__(self, folder: str, suggestions: Sequence[str] = ()) -> None:
        self._folder = folder
        self._suggestions = suggestions
        self.problem = ""
        """Why a file cannot be shown; the welcome is shown while it is empty."""
        self._laid: tuple[Size, str] | None = None
        """The size and the problem that the rows were made for."""
        self._rows: list[Row] = []
        self._top = 0

    def line(self, y: int, size: Size, palette: Palette) -> Strip:
        """Line ``y`` of the page in a pane of ``size``."""
        self._lay(size)
        at = self._top + y
        row = self._rows[at] if at < len(self._rows) else Row([])
        below = len(self._rows) - self._top - size.height
        # The last line tells that more is below; what it hides comes with the next page.
        if y == size.height - 1 and below > 0:
            row = Row([(f"↓ {below + 1} more: PgDn".center(size.width), "faint")])
        return row.strip(palette, size.width)

    def scroll(self, by: int, size: Size) -> None:
        """Scroll in a pane of ``size``."""
        self._lay(size)
        self._top = max(0, min(self._top + by, len(self._rows) - size.height))

    def _lay(self, size: Size) -> None:
        """Make the rows for ``size``, and begin at the top."""
        if self._laid == (size, self.problem):
            return
        self._laid = size, self.problem
        width, height = size
        body = self._problem_rows(width) if self.problem else self._welcome(width)
        if len(body) > height:
            body = [row for row in body if row.spans]
        self._rows = [Row([]) for _ in range(max(0, (height - len(body)) // 2))] + body
        self._top = 0

    def _problem_rows(self, width: int) -> list[Row]:
        lead: list[Span] = [("  ", "text")]
        return wrap([(visible(self.problem), "warning")], width - 2, first=lead, rest=lead)

    def _welcome(self, width: int) -> list[Row]:
        keys = [(shown(action, scope), told) for action, scope, told in _KEYS]
        named = max(len(key) for key, _ in keys)
        block = min(width - 2, _WIDTH)
        left = max(0, (width - block) // 2)
        margin: Span = (" " * left, "text")
        width = left + block
        rows = [
            Row([margin, ("spark", "heading")]),
            *wrap(
                [(visible(self._folder), "muted")], width, first=[margin], rest=[margin], by=Breaks.ANYWHERE
            ),
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
