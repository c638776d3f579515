"""Undo and redo in an open file: one history for the user's typing and the model's hunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from session.base.events import HunkRefused
from tui.editor.buffers.buffer import Buffer

if TYPE_CHECKING:
    from tui.editor.buffers.history import Step
    from tui.editor.disk_changes import DiskChanges
    from tui.editor.editor import EditorPane
    from tui.front.port import SessionPort


class HistoryControl:
    """Takes steps back and makes them again, those of hunks through the ledger."""

    def __init__(
        self, editor: EditorPane, session: SessionPort, disk: DiskChanges, say: Callable[..., None]
    ) -> None:
        """``say`` shows a line to the user, with its level as of a notice."""
        self._editor = editor
        self._session = session
        self._disk = disk
        self._say = say

    async def undo(self) -> None:
        """Take back the last step in the shown file."""
        await self._disk.settled()
        buffer = self._editor.buffer
        step = buffer.history.last
        if step is None:
            self._say("nothing to undo in this file" if buffer.path else "no file is open")
        elif step.hunk:
            await self._reverse(buffer, step, undo=not step.undid)
        else:
            buffer.take_back()
            self._went_to(step, after=False)

    async def redo(self) -> None:
        """Make the step again that was taken back last in the shown file."""
        await self._disk.settled()
        buffer = self._editor.buffer
        step = buffer.history.next
        if step is None:
            self._say("nothing to redo in this file" if buffer.path else "no file is open")
        elif step.hunk:
            await self._reverse(buffer, step, undo=step.undid)
        elif buffer.make_again() is None:
            self._say("nothing to redo: the text has changed since", "warning")
        else:
            self._went_to(step, after=True)

    async def _reverse(self, buffer: Buffer, step: Step, *, undo: bool) -> None:
        """Undo or redo a hunk in the ledger, and go where that changed the file."""
        hunks = self._session.hunks
        buffer.history.expect(step)
        result = await (hunks.undo(step.hunk) if undo else hunks.redo(step.hunk))
        if isinstance(result, HunkRefused):
            passed_over = buffer.history.refused(step)
            buffer.history.expect(None)
            if passed_over and buffer is self._editor.buffer:
                await self.undo()
            return
        await self._disk.take(result)
        if result.start and buffer is self._editor.buffer:
            self._editor.reveal(result.start - 1, last=result.end - 2)

    def _went_to(self, step: Step, *, after: bool) -> None:
        selected = step.after if after else step.before
        editor = self._editor
        if selected is None:
            editor.reveal(step.rows.row)
        else:
            editor.reveal(selected[1][0], cursor=False)
            editor.choose(selected)
        if step.outside:
            done = "redone" if after else "undone"
            self._say(f"a change from outside of spark is {done} in the text, unsaved")
