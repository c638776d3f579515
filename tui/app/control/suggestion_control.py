"""Looks for what the text before the cursor could become, and shows it over the composer."""

from __future__ import annotations

import asyncio

from textual.app import App

from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Panes
from tui.front.slash.completion import Candidates, Completer, from_files, typed

BETWEEN_LETTERS = 0.05
"""Seconds without a key after which suggestions are looked for."""
KEPT_FREE = 2
"""Rows of the panes that suggestions leave in sight."""
SEARCH = "looking for suggestions"


class SuggestionControl:
    """Keeps the list of suggestions up to date while the user types."""

    def __init__(
        self, app: App[int], panes: Panes, background: BackgroundTasks, completer: Completer
    ) -> None:
        self._app = app
        self._panes = panes
        self._background = background
        self._completer = completer
        self._search: asyncio.Future[Candidates | None] | None = None
        """The search that runs, or ran last."""
        self._found: tuple[str, Candidates] | None = None
        """What was found, and for which text before the cursor."""
        self._told = ""
        """What the status line said of the suggestions last."""
        self._completed = ""
        """The text before the cursor as the last completion left it."""

    def completed(self, told: str) -> None:
        """A match was put in; ``told`` says which of how many."""
        self._completed = self._before()
        self._tell(told)

    def complete(self, before: str) -> Candidates | None:
        """The matches for the text ``before`` the cursor: those that are shown, or new ones."""
        if self._found is not None and self._found[0] == before:
            return self._found[1]
        return self._completer(before)

    def update(self) -> None:
        """Show what the text at the cursor could become now."""
        before = self._before()
        self._panes.suggestions.typed()
        row = self._panes.composer.cursor_location[0]
        now = typed(before) if row == 0 or "@" in before else None
        if before != self._completed:
            self._completed = ""
        if not self._panes.composer.has_focus or now is None:
            self.hide()
            if self._told and self._panes.status.status.message == self._told:
                self._panes.status.show(message="")
            self._told = ""
        elif not self._completed or not self._panes.suggestions.choose(now.word):
            self._background.restart(self._look(before), SEARCH)

    def hide(self) -> None:
        """Show no suggestions."""
        self._found = None
        self._background.cancel(SEARCH)
        self._panes.suggestions.hide()

    async def _look(self, before: str) -> None:
        """Look for suggestions, in a thread where it takes time: one search at once, for the last letter."""
        look = self._completer
        if from_files(before):
            await asyncio.sleep(BETWEEN_LETTERS)
            if self._search is not None:
                await asyncio.wait({self._search})
            self._search = asyncio.ensure_future(asyncio.to_thread(look, before))
            found = await asyncio.shield(self._search)
            self._found = None if found is None else (before, found)
        else:
            found = look(before)
        panes = self._panes
        if found is None or not panes.composer.has_focus or list(found.texts) == [found.word]:
            panes.suggestions.hide()
            return
        below = panes.composer.outer_size.height + panes.status.outer_size.height
        width, height = self._app.size
        panes.suggestions.offer(found, width, height - below - KEPT_FREE, below)
        if panes.suggestions.display and not self._completed:
            self._tell("↑ ↓ choose · Tab or Enter puts it in · Esc closes", over=("", self._told))

    def _tell(self, told: str, over: tuple[str, ...] | None = None) -> None:
        """Say ``told`` in the status line; with ``over``, only in place of one of these messages."""
        if over is None or self._panes.status.status.message in over:
            self._told = told
            self._panes.status.say(told)

    def _before(self) -> str:
        row, column = self._panes.composer.cursor_location
        return self._panes.composer.document.get_line(row)[:column]
