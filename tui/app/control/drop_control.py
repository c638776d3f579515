"""Takes a landed hunk out, after asking about those that depend on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App

from session.assist.surgery import Cut, SurgeryError
from tui.app.control.background import BackgroundTasks
from tui.app.panes.held_bar import DROP, Question
from tui.app.panes.layout import Panes

if TYPE_CHECKING:
    from session.assist.surgery import Dependent
    from tui.front.port import SessionPort
    from tui.front.words.held_items import Verdict


class DropControl:
    """What ``/drop HUNK`` and the key of the review do."""

    def __init__(
        self, app: App[int], panes: Panes, background: BackgroundTasks, session: SessionPort
    ) -> None:
        self._app = app
        self._panes = panes
        self._background = background
        self._session = session
        self._asked: tuple[Cut, tuple[Dependent, ...]] | None = None

    def meant(self, argument: str) -> Cut | None:
        """The hunk that ``/drop ARGUMENT`` names, if the user is to be asked; else the command answers."""
        if self._session.standing.owner:
            return None
        try:
            cut = self._session.surgery.parsed(argument)
        except SurgeryError:
            return None
        return cut if cut is not None and not cut.with_dependents else None

    def ask(self, cut: Cut) -> None:
        """Take a hunk out; ask first where others depend on it."""
        self._background.start(self._ask(cut), "looking for what depends on a hunk")

    async def _ask(self, cut: Cut) -> None:
        found = await self._session.surgery.dependents(cut.hunk)
        if not found:
            await self._drop(cut)
            return
        self._asked = cut, found
        others = "one that depends" if len(found) == 1 else f"{len(found)} that depend"
        title = f"Drop {cut.hunk} with {others} on it?"
        listed = "\n".join(map(str, found))
        question = Question(
            DROP, title, listed, "drop them, ask for these again", "keep all", "only drop them"
        )
        self._panes.held.confirm(question)
        self._app.screen_stack[0].set_focus(self._panes.held)

    def answer(self, verdict: Verdict) -> None:
        """Act on the answer."""
        asked, self._asked = self._asked, None
        self._panes.held.confirm(None)
        if asked is not None and verdict != "reject":
            cut, found = asked
            again = replace(cut, with_dependents=True, again=verdict == "apply")
            self._background.start(self._agreed(cut, again, found), "dropping hunks")

    async def _agreed(self, cut: Cut, again: Cut, found: tuple[Dependent, ...]) -> None:
        """Drop what was asked about; where something else depends on it now, ask anew."""
        if await self._session.surgery.dependents(cut.hunk) != found:
            await self._ask(cut)
        else:
            await self._drop(again)

    async def _drop(self, cut: Cut) -> None:
        try:
            told = await self._session.surgery.drop(cut)
            self._panes.chat.remark(told, "info")
        except SurgeryError as problem:
            self._panes.status.say(str(problem), "error")
            self._panes.chat.remark(str(problem), "error")
