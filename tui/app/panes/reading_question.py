"""Asks whether a folder that is not one project, such as the home folder, is read; meanwhile it is not."""

from __future__ import annotations

from session.base.events import Event, ReadingHeld
from tui.app.panes.held_bar import READ_ALL, Question
from tui.app.panes.layout import Panes
from tui.front.port import SessionPort
from tui.front.words.held_items import Verdict


class ReadingQuestion:
    """The question in the bar above the composer, and its answer."""

    def __init__(self, panes: Panes, session: SessionPort) -> None:
        self._panes = panes
        self._session = session

    def take(self, event: Event) -> None:
        """Ask where the session does not read its folder unasked."""
        if isinstance(event, ReadingHeld) and event.reason:
            title = f"{event.reason[:1].upper()}{event.reason[1:]}: read and index all of it?"
            self._panes.held.stand(Question(READ_ALL, title, "", "index it", "work without", ""))
        elif isinstance(event, ReadingHeld) and self._panes.held.standing(READ_ALL):
            self._panes.held.stand(None)

    def answer(self, verdict: Verdict) -> None:
        """Have the folder read, or go on without."""
        self._panes.held.stand(None)
        if verdict == "apply":
            self._session.context.read_all()
        else:
            self._panes.status.say("not indexed: /index reads it after all")
