"""Shows races in the app, and does what the user's keys and ``/try`` ask of them.

The panel of a race, above the composer: a line for the race and one for each attempt.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.app import App
from textual.strip import Strip
from textual.widget import Widget

from session.base.events import Event, PromptSubmitted, RaceStarted
from session.commands.race_commands import RaceError
from tui.app.panes.layout import Panes
from tui.app.race.rows import RaceView
from tui.front.port import SessionPort
from tui.screen.drawing.palette import Palette, ThemeSwitch
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


class RaceControl:
    """The panel of the race and the screen of its attempts. Made with the first race."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        session: SessionPort,
    ) -> None:
        self._app = app
        self._panes = panes
        self._themes = themes
        self._session = session
        self._view = RaceView()
        self._panel: RacePanel | None = None

    def take(self, event: Event) -> None:
        """Show an event of a race; the next prompt takes the panel away."""
        if self._view.take(event):
            if isinstance(event, RaceStarted):
                self._show()
            elif self._panel is not None:
                self._panel.take(event)
        elif isinstance(event, PromptSubmitted) and self._panel is not None:
            self._panel.remove()
            self._panel = None

    def look(self) -> None:
        """Show every attempt of the last race, and what it changes."""
        from tui.app.race.attempts_screen import AttemptsScreen

        screen = AttemptsScreen(self._themes.palette, self._view, self._diff)
        screen.on_closed = self._closed
        self._app.push_screen(screen)

    def _closed(self, result: str | None) -> None:
        if result is None:
            return
        try:
            self._session.race.take(int(result))
        except RaceError as problem:
            self._panes.status.say(str(problem), "error")

    def _diff(self, number: int) -> str:
        try:
            return self._session.race.diff(number)
        except RaceError as problem:
            return str(problem)

    def _show(self) -> None:
        if self._panel is not None:
            self._panel.remove()
        self._panel = RacePanel(self._themes.palette, self._view)
        self._app.screen_stack[0].mount(self._panel, before=self._panes.held)
