"""Shows races in the app, and does what the user's keys ask of them; nothing is loaded before the first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App

from session.base.events import Event, PromptSubmitted, RaceStarted
from session.commands.race_commands import RaceCommands, RaceError
from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Panes

if TYPE_CHECKING:
    from tui.app.race.panel import RacePanel
    from tui.app.race.rows import RaceView
    from tui.screen.drawing.palette import ThemeSwitch


class Races:
    """The panel of the race and the screen of its attempts."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        race: RaceCommands,
        background: BackgroundTasks,
    ) -> None:
        self._background = background
        self._app = app
        self._panes = panes
        self._themes = themes
        self._race = race
        self._view: RaceView | None = None
        """The last race; None before the first."""
        self._panel: RacePanel | None = None

    def take(self, event: Event) -> None:
        """Show an event of a race; the next prompt takes the panel away."""
        if self._view is None:
            if not isinstance(event, RaceStarted):
                return
            from tui.app.race.rows import RaceView

            self._view = RaceView()
        if self._view.take(event):
            if isinstance(event, RaceStarted):
                self._show(self._view)
            elif self._panel is not None:
                self._panel.take(event)
        elif isinstance(event, PromptSubmitted) and self._panel is not None:
            self._panel.remove()
            self._panel = None

    def look(self) -> None:
        """Show every attempt of the last race, and what it changes; of an earlier session too."""
        if self._view is None:
            self._background.start(self._look_at_kept(), "reading the last race")
        else:
            self._look_at(self._view)

    async def _look_at_kept(self) -> None:
        from tui.app.race.rows import RaceView

        try:
            race = await asyncio.to_thread(self._race.kept)
        except RaceError as problem:
            self._panes.status.say(str(problem))
            return
        if self._view is None:
            self._view = RaceView.of_kept(race)
        self._look_at(self._view)

    def _look_at(self, view: RaceView) -> None:
        from tui.app.race.panel import AttemptsScreen

        screen = AttemptsScreen(self._themes.palette, view, self._diff)
        screen.on_closed = self._closed
        self._app.push_screen(screen)

    def _closed(self, result: str | None) -> None:
        if result is None:
            return
        try:
            self._race.take(int(result))
        except RaceError as problem:
            self._panes.status.say(str(problem), "error")

    def _diff(self, number: int) -> str:
        try:
            return self._race.diff(number)
        except RaceError as problem:
            return str(problem)

    def _show(self, view: RaceView) -> None:
        from tui.app.race.panel import RacePanel

        if self._panel is not None:
            self._panel.remove()
        self._panel = RacePanel(self._themes.palette, view)
        self._app.screen_stack[0].mount(self._panel, before=self._panes.held)
