"""A widget of scrolling rows, used by the screens over the panes."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.screen.drawing.palette import Palette
from tui.screen.drawing.rows import Row


class Lines(Widget, can_focus=False):
    """Rows that scroll; one of them may be chosen."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.rows: list[Row] = []
        self.top = 0
        self.on_sized: Callable[[], object] = lambda: None
        """Called when its size changed: rows may have to be made anew for its width."""

    def on_resize(self) -> None:
        """Tell of another size."""
        self.on_sized()

    def show(self, rows: list[Row], *, keep: int = 0) -> None:
        """Show other rows, with row ``keep`` in sight."""
        self.rows = rows
        height = max(1, self.size.height)
        if not self.top <= keep < self.top + height:
            self.top = max(0, keep - height // 2)
        self.top = max(0, min(self.top, len(rows) - height))
        self.refresh()

    def move(self, by: int) -> None:
        """Scroll."""
        self.top = max(0, min(self.top + by, len(self.rows) - self.size.height))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        at, width = self.top + y, self.size.width
        if at < len(self.rows):
            return self.rows[at].strip(self.palette, width)
        return Strip([Segment(" " * width, self.palette.style("text", "panel"))], width)
