"""What the app holds for races: nothing but a handle, until the first one begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from session.base.events import Event, RaceStarted
from session.session import Session
from tui.app.panes.layout import Panes

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
        session: Session,
    ) -> None:
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
        """Show every attempt of the last race, and what it changes."""
        if self._control is None:
            self._panes.status.say("there was no race yet: /try 5 PROMPT begins one")
        else:
            self._control.look()
