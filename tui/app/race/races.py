"""What the app holds for races: nothing but a handle, until the first one begins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App

from session.base.events import Event, RaceStarted
from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Panes
from tui.front.port import SessionPort

if TYPE_CHECKING:
    from tui.app.race.control import RaceControl
    from tui.screen.drawing.palette import ThemeSwitch


class Races:
    """Makes :class:`RaceControl` with the first race."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        session: SessionPort,
        background: BackgroundTasks,
    ) -> None:
        self._background = background
        self._app = app
        self._panes = panes
        self._themes = themes
        self._session = session
        self._control: RaceControl | None = None

    def take(self, event: Event) -> None:
        """Follow the session."""
        if self._control is None and isinstance(event, RaceStarted):
            from tui.app.race.control import RaceControl

            self._control = RaceControl(self._app, self._panes, self._themes, self._session)
        if self._control is not None:
            self._control.take(event)

    def look(self) -> None:
        """Show every attempt of the last race, and what it changes; of an earlier session too."""
        if self._control is not None:
            self._control.look()
        else:
            self._background.start(self._look_at_kept(), "reading the last race")

    async def _look_at_kept(self) -> None:
        from session.commands.race_commands import RaceError

        try:
            race = await asyncio.to_thread(self._session.race.kept)
        except RaceError as problem:
            self._panes.status.say(str(problem))
            return
        if self._control is None:
            from tui.app.race.control import RaceControl
            from tui.app.race.rows import RaceView

            view = RaceView.of_kept(race)
            self._control = RaceControl(self._app, self._panes, self._themes, self._session, view)
        self._control.look()
