"""Asks whether the project's files may instruct the model, and whether a folder that is not one project, such
as the home folder, is read. Meanwhile they are not used, and it is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.app import App

from session.base.events import Event, ReadingHeld, TrustAnswered, TrustAsked
from session.commands.context_commands import ContextCommands
from session.commands.trust_commands import TrustCommands
from tui.app.panes.held_bar import READ_ALL, TRUST, Question
from tui.app.panes.layout import Panes
from tui.front.words.check_lines import trust_lines, trust_title
from tui.front.words.held_items import Verdict

Work = Coroutine[Any, Any, None]


class TrustQuestion:
    """The question in the bar above the composer, and its answer."""

    def __init__(
        self, app: App[int], panes: Panes, trust: TrustCommands, start: Callable[[Work, str], object]
    ) -> None:
        """``start`` runs a coroutine in the background, by what it does."""
        self._app = app
        self._panes = panes
        self._start = start
        self._trust = trust
        self._shown = self._trust.asked

    def take(self, event: Event) -> None:
        """Follow the question, and tell what the user answered."""
        match event:
            case TrustAsked():
                self._shown = self._trust.asked
                self._panes.held.stand(self._question())
            case TrustAnswered(paths=paths, agreed=agreed):
                used = "used from now on" if agreed else "not used: the model sees them as data only"
                self._panes.chat.remark(f"{', '.join(paths)}: {used}", "quiet")
            case _:
                pass

    def answer(self, verdict: Verdict) -> None:
        """Keep the user's answer about what was shown."""
        if verdict == "later":
            self._trust.later()
            self._panes.status.say("not used for now: /trust asks again")
        else:
            self._start(self._answer(agreed=verdict == "apply"), "keeping the answer")

    def ask(self) -> None:
        """Ask about all that is not trusted, and go there."""
        self._start(self._ask(), "looking at the project's files")

    async def _ask(self) -> None:
        if told := await self._trust.ask_again():
            self._panes.status.say(told)
        else:
            self._app.call_after_refresh(self._panes.held.focus)

    async def _answer(self, *, agreed: bool) -> None:
        if told := await self._trust.answer(agreed=agreed, seen=self._shown):
            self._panes.status.say(told)

    def _question(self) -> Question | None:
        if not self._shown:
            return None
        text = "\n".join(trust_lines(self._shown))
        return Question(
            TRUST, trust_title(self._shown), text, "use them", "do not", "", (("later", "later"),)
        )


class ReadingQuestion:
    """The question in the bar above the composer, and its answer."""

    def __init__(self, panes: Panes, context: ContextCommands) -> None:
        self._panes = panes
        self._context = context

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
            self._context.read_all()
        else:
            self._panes.status.say("not indexed: /index reads it after all")
