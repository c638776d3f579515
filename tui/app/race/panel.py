"""The panel of a race, above the composer: a line for the race and one for each attempt."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from session.base.events import Event
from tui.app.race.rows import RaceView
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.rows import Row

LEAST = 3
"""Rows that the panel may take on the lowest screen."""


class RacePanel(Widget, can_focus=False):
    """Shows the race that runs, or the last one until the next prompt. It never takes a key."""

    def __init__(self, palette: Palette, view: RaceView) -> None:
        super().__init__(id="race")
        self._palette = palette
        self._view = view
        self._rows: list[Row] = []

    def take(self, event: Event) -> None:
        """Show what changed. The view has the event already."""
        del event
        self._draw()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        self._draw()

    def on_mount(self) -> None:
        """Show what there is."""
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        most = max(LEAST, self.app.size.height // 3)
        self._rows = self._view.rows(self.app.size.width, most)
        if self.styles.height is None or self.size.height != len(self._rows):
            self.styles.height = len(self._rows)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row."""
        if y < len(self._rows):
            return self._rows[y].strip(self._palette, self.size.width)
        return Strip([Segment(" " * self.size.width, self._palette.style("text", "panel"))])
