"""The open files as the user's keys work on them: tabs, saving, undo, questions about unsaved text.

Undo and redo in an open file: one history for the user's typing and the model's hunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import localtime, strftime
from typing import TYPE_CHECKING

from textual.app import App

from session.base.events import FileBroken, HunkRefused
from session.base.storage.private_files import StoreError
from tui.app.control.background import BackgroundTasks
from tui.app.control.conflict_control import CONFLICT, ConflictControl
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.held_bar import Question
from tui.app.panes.layout import Layout, Panes
from tui.editor.buffers.buffer import Buffer
from tui.editor.buffers.keeper import UnsavedKeeper
from tui.front.keys.key_order import after_typing
from tui.front.words.check_lines import broken_line, hunk_names
from tui.front.words.held_items import Verdict

if TYPE_CHECKING:
    from session.commands.hunk_commands import HunkCommands
    from session.project.unsaved_texts import UnsavedText, UnsavedTexts
    from tui.editor.buffers.history import Step
    from tui.editor.disk_changes import DiskChanges
    from tui.editor.editor import EditorPane
    from tui.editor.shown_file import ShownFile


class HistoryControl:
    """Takes steps back and makes them again, those of hunks through the ledger."""

    def __init__(
        self, editor: EditorPane, hunks: HunkCommands, disk: DiskChanges, say: Callable[..., None]
    ) -> None:
        """``say`` shows a line to the user, with its level as of a notice."""
        self._editor = editor
        self._hunks = hunks
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
        hunks = self._hunks
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


_CLOSE, _QUIT, _RESTORE, _SAVE = "close-file", "quit-with-unsaved", "restore-unsaved", "save-over"
_BROKEN = "broken-file"


class FileControl:
    """What the editor's keys do with the open files."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        layout: Layout,
        overlays: OverlayControl,
        background: BackgroundTasks,
        hunks: HunkCommands,
        unsaved: UnsavedTexts,
        shown_file: ShownFile,
        disk: DiskChanges,
    ) -> None:
        self._app = app
        self._panes = panes
        self._layout = layout
        self._overlays = overlays
        self._background = background
        self._hunks = hunks
        self._unsaved = unsaved
        self._file = shown_file
        self._say = panes.status.say
        self._keeper = UnsavedKeeper(unsaved, background.start, self._say)
        self._left: list[UnsavedText] = []
        """The texts that an earlier process left, which the user has not answered about."""
        self._broken: list[FileBroken] = []
        """The files that turns left with a syntax error, which the user has not answered about."""
        self.on_saved: Callable[[Buffer], str] = lambda buffer: ""
        """Called when the user saved a file, or wanted to; returns what is said besides."""
        self.on_closed: Callable[[Buffer], None] = lambda buffer: None
        """Called when the user closed a file."""
        self._asked: Buffer | None = None
        """The file that is asked about before it is closed or saved."""
        self._leave: Callable[[], None] = lambda: None
        """Leaves the app, once the user has said what becomes of unsaved text."""
        self._conflicts = ConflictControl(shown_file, panes.chat, hunks, disk, self._propose)
        history = HistoryControl(panes.editor, hunks, disk, self._say)
        self.undo, self.redo = history.undo, history.redo
        shown_file.texts.append(self._text_changed)

    # Opening and going round.

    def pick_file(self) -> None:
        """Have the user pick a file to open; if the list is shown, close it."""
        edited = {*self._file.marks.paths, *(each.path for each in self._file.buffers)}
        self._overlays.pick_file(self._file.path, edited, self.open, self._make)

    def open(self, path: str, line: int | None = None) -> None:
        """Show a file, at a line from 1 if one is given. Keys for the editor wait for it, others do not."""
        self._panes.editor.call_later(self._open, path, line)

    def _make(self, path: str) -> None:
        """Make a file that the user named, and show it."""
        self._panes.editor.call_later(self._make_and_open, path)

    async def _make_and_open(self, path: str) -> None:
        if await self._file.make(path):
            await self._open(path, None)

    async def _open(self, path: str, line: int | None) -> None:
        if await self._file.open(path):
            if line is not None:
                self._panes.editor.reveal(max(0, min(line, self._panes.editor.document.line_count) - 1))
            self._layout.bring("editor")
            # At once: the next key of the same read goes there.
            self._app.screen_stack[0].set_focus(self._panes.editor)

    async def next_tab(self, step: int) -> None:
        """Show the next (1) or the previous (-1) open file."""
        buffer = self._file.buffers.neighbour(step)
        if buffer is not None and buffer is not self._panes.editor.buffer:
            self._file.show(buffer)

    async def close_tab(self) -> None:
        """Close the shown file; its unsaved text is asked about."""
        buffer = self._panes.editor.buffer
        if not buffer.path:
            self._say("no file is open")
        elif buffer.dirty:
            self._asked = buffer
            title = f"{buffer.path} has unsaved text"
            self._ask(_CLOSE, title, "", "save it and close", "leave it open", ("discard", "discard it"))
        else:
            self._close(buffer)

    def _close(self, buffer: Buffer) -> None:
        self._file.close(buffer)
        self.on_closed(buffer)
        if not self._file.path:
            self._app.screen_stack[0].set_focus(self._panes.composer)

    # Saving.

    def save(self) -> None:
        """Save the file in the editor, with all that was typed before the key."""
        after_typing(self._app, lambda: self._background.start(self._save(), "saving the file"))

    async def _save(self) -> None:
        buffer = self._panes.editor.buffer
        if not buffer.path:
            self._say("no file is open")
        elif not buffer.dirty:
            self._say(self.on_saved(buffer) or f"{buffer.path} has no unsaved changes")
        elif not self._asked_to_overwrite([buffer]) and await self._file.save(buffer):
            self._say(" · ".join(filter(None, [f"saved {buffer.path}", self.on_saved(buffer)])))

    def _asked_to_overwrite(self, buffers: list[Buffer]) -> bool:
        """Ask before the first file with open conflicts is saved; false when there is none."""
        for buffer in buffers:
            if buffer.conflicts:
                self._asked = buffer
                by = ", ".join(dict.fromkeys(each.hunk or "others" for each in buffer.conflicts))
                title = f"Unsettled conflicts in {buffer.path}: saving overwrites what {by} wrote there"
                self._ask(_SAVE, title, "", "save yours", "back")
                return True
        return False

    async def _save_all(self) -> bool:
        saved = [await self._file.save(buffer) for buffer in self._file.buffers.dirty]
        return all(saved)

    # What is asked about unsaved text.

    def ask_before_quitting(self, leave: Callable[[], None]) -> bool:
        """Whether the app can be left with ``leave`` at once. If not, the user is asked about the unsaved
        texts; asked already, they are kept for the next start."""
        dirty = self._file.buffers.dirty
        if not dirty:
            return True
        question = self._panes.held.question
        if question is not None and question.name == _QUIT:
            return self._kept()
        self._leave = leave
        listed = "\n".join(buffer.path for buffer in dirty)
        title = "1 file has unsaved text" if len(dirty) == 1 else f"{len(dirty)} files have unsaved text"
        others: tuple[tuple[Verdict, str], ...] = (
            ("discard", "discard"),
            ("keep", "keep for next start"),
        )
        self._ask(_QUIT, title, listed, "save and quit", "stay", *others)
        return False

    def flush(self) -> None:
        """Keep all unsaved texts on disk, before this returns."""
        self._kept()

    def _kept(self) -> bool:
        try:
            self._keeper.flush()
        except StoreError as problem:
            self._say(str(problem), "error")
            return False
        return True

    async def find_left(self) -> None:
        """Offer the texts that earlier processes left."""
        try:
            self._left = await asyncio.to_thread(self._unsaved.left)
        except StoreError as problem:
            self._say(str(problem), "warning")
        self._propose()

    def _text_changed(self, buffer: Buffer) -> None:
        self._keeper.changed(buffer)
        self._conflicts.changed()

    def _propose(self) -> None:
        question = self._conflicts.question
        if question is None and self._broken:
            broken = self._broken[0]
            title = broken_line(broken.path, broken.message, broken.hunks)
            question = Question(_BROKEN, title, "", f"undo {hunk_names(broken.hunks)}", "leave it", "")
        elif question is None and self._left:
            left = self._left[0]
            more = f" (1 of {len(self._left)})" if len(self._left) > 1 else ""
            title = f"Unsaved text of {left.path} from {_clock(left.time)}{more}"
            discard: tuple[tuple[Verdict, str], ...] = (("discard", "discard it"),)
            question = Question(_RESTORE, title, "", "restore", "later", "", discard)
        self._panes.held.propose(question)

    def _ask(
        self, name: str, title: str, text: str, apply: str, reject: str, *others: tuple[Verdict, str]
    ) -> None:
        self._panes.held.confirm(Question(name, title, text, apply, reject, "", others, "editor"))
        self._app.screen_stack[0].set_focus(self._panes.held)

    def answer(self, name: str, verdict: Verdict) -> bool:
        """Take the user's answer to a question about files; false when ``name`` is none."""
        if name not in (_CLOSE, _QUIT, _RESTORE, _SAVE, _BROKEN, CONFLICT):
            return False
        if name == _BROKEN:
            self._background.start(self._answer_broken(verdict), "undoing hunks")
            return True
        if name == CONFLICT:
            self._background.start(self._conflicts.settle(verdict), "settling a conflict")
            return True
        if name == _RESTORE:
            self._background.start(self._answer_left(verdict), "restoring unsaved text")
            return True
        self._panes.held.confirm(None)
        self._background.start(self._answer(name, verdict), "saving the file")
        return True

    async def _answer(self, name: str, verdict: Verdict) -> None:
        buffer = self._asked
        match name, verdict:
            case "save-over", "apply" if buffer is not None:
                await self._conflicts.overwrite(buffer)
            case ("close-file", "apply") if buffer is not None and self._asked_to_overwrite([buffer]):
                pass
            case ("quit-with-unsaved", "apply") if self._asked_to_overwrite(self._file.buffers.dirty):
                pass
            case "close-file", "apply" if buffer is not None:
                if await self._file.save(buffer) and not buffer.dirty:
                    self._close(buffer)
            case "close-file", "discard" if buffer is not None:
                self._keeper.drop(buffer)
                self._close(buffer)
            case "quit-with-unsaved", "apply":
                if await self._save_all():
                    self._leave()
            case "quit-with-unsaved", "discard":
                for each in self._file.buffers.dirty:
                    self._keeper.drop(each)
                    self._file.close(each)
                self._leave()
            case "quit-with-unsaved", "keep":
                if self._kept():
                    self._leave()
            case _:
                pass

    def broken(self, event: FileBroken) -> None:
        """A turn left a file with a syntax error: offer to undo the hunks that broke it."""
        if event.hunks:
            self._broken = [*(each for each in self._broken if each.path != event.path), event]
            self._propose()

    async def _answer_broken(self, verdict: Verdict) -> None:
        broken = self._broken.pop(0)
        self._propose()
        if verdict == "apply":
            for hunk in reversed(broken.hunks):
                await self._hunks.undo(hunk)

    async def _answer_left(self, verdict: Verdict) -> None:
        if not self._left:
            return
        left = self._left.pop(0)
        try:
            if verdict == "apply" and await self._file.restore(left.path, left.text, left.base):
                self._kept()
                await asyncio.to_thread(self._unsaved.discard, left)
                self._say(f"restored the unsaved text of {left.path}")
                self._layout.bring("editor")
            elif verdict == "discard":
                await asyncio.to_thread(self._unsaved.discard, left)
        except StoreError as problem:
            self._say(str(problem), "error")
        self._propose()


def _clock(time: float) -> str:
    return strftime(
        "%H:%M" if strftime("%F", localtime(time)) == strftime("%F") else "%F %H:%M", localtime(time)
    )
