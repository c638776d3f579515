"""What the keys for findings do: go to the next one, and send what is red to the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from session.base.events import HunkChecked
from tui.app.review.check_finding_notes import FOLLOWED, FindingNotes
from tui.editor.marks import Mark
from tui.front.words.check_lines import what_failed

if TYPE_CHECKING:
    from session.base import events as said
    from tui.app.panes.layout import Layout, Panes
    from tui.editor.shown_file import ShownFile
    from tui.front.port import SessionPort


class FindingControl:
    """Goes to findings, and sends them."""

    def __init__(self, panes: Panes, layout: Layout, session: SessionPort, shown_file: ShownFile) -> None:
        self._panes = panes
        self._layout = layout
        self._session = session
        self._file = shown_file
        self.notes = FindingNotes(panes.editor.notes, shown_file.marks)

    def take(self, event: said.Event) -> None:
        """Follow the session: after the open file has what landed before."""
        if not isinstance(event, FOLLOWED):
            return

        async def take() -> None:
            self.notes.take(event)

        self._file.order.add(take)

    def resume(self, past: Iterable[said.Event]) -> None:
        """Show the verdicts of a resumed session that still stand, once its landed hunks are marked."""
        from session.commands.red_now import standing

        for event in standing(past):
            self.take(self.notes.where_it_is(event) if isinstance(event, HunkChecked) else event)

    def go(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) finding, and say what it is."""
        self._panes.editor.call_later(self._go, step)

    async def _go(self, step: int) -> None:
        file = self._file
        found = self.notes.beside(file.path, self._panes.editor.cursor_location[0], step)
        if found is None:
            self._panes.status.say("no check has found anything; /check on judges hunks as they land")
        elif await file.go_to(found.path, Mark(found.hunk, found.row, found.row + 1)):
            self._layout.bring("editor")
            self._panes.status.say(str(found), "error")

    def fix(self) -> None:
        """Send what is red, or the last command's output, to the model, with the draft before it."""
        prompt = what_failed(self._session, failed=False)
        if not prompt:
            self._panes.status.say("nothing is red: no failure to send")
            return
        composer = self._panes.composer
        if draft := composer.draft.strip():
            composer.history_of_prompts.add(draft)
            composer.put("")
            prompt = f"{draft}\n\n{prompt}"
        self._session.submit(prompt, typed=draft)
