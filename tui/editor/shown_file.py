"""The open files and the one in the editor: opened, closed, saved.

Everything that waits for the disk is done in the order in which it was asked for (``order``): reading a file
that the user or a hunk wants to see, saving, and taking in what changed on disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from session.project.opened import FileProblem, Merged, OpenFile
from tui.editor.buffers.buffer import Buffer, OpenBuffers
from tui.editor.buffers.keeper import InOrder, Start
from tui.editor.buffers.rows import Rows
from tui.editor.editor import EditorPane
from tui.editor.marks import Mark, Marks
from tui.screen.drawing.code import lexer_for

Say = Callable[[str, str], None]
"""Shows one line to the user: the text, and its level as of a notice."""


class Files(Protocol):
    """Where texts come from and go to: the project's files, or those of a replay."""

    async def read(self, path: str) -> OpenFile:
        """Read a file. Raises FileProblem."""
        ...

    async def make(self, path: str) -> OpenFile:
        """Make an empty file. Raises FileProblem."""
        ...

    async def save(self, opened: OpenFile, text: str) -> OpenFile:
        """Write ``text`` in place of ``opened``. Raises FileProblem."""
        ...

    async def merge(self, base: str, mine: str, theirs: str) -> Merged:
        """The three-way merge."""
        ...


class ShownFile:
    """Moves files between the disk, the open buffers and the editor pane."""

    def __init__(
        self,
        editor: EditorPane,
        marks: Marks,
        files: Files,
        say: Say,
        start: Start,
        landed_in: Callable[[str], Sequence[str]] = lambda path: (),
    ) -> None:
        """``start`` starts background tasks; ``landed_in`` gives the landed hunks of a file, oldest first."""
        self.editor = editor
        self.marks = marks
        self.files = files
        self.say = say
        self.buffers = OpenBuffers()
        self.order = InOrder(start, "reading or saving a file")
        self._landed_in = landed_in
        self.problem = ""
        """Why the requested file is not shown; empty when it is, or none was requested."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when another file, or none, is shown, or when unsaved changes begin or end."""
        self.on_put: Callable[[], None] = lambda: None
        """Called when the user went to a landed hunk."""
        self.changes: list[Callable[[Buffer, Rows], None]] = []
        """Called after every change of the rows of an open file."""
        self.texts: list[Callable[[Buffer], None]] = []
        """Called after every change of an open file's text or conflicts, and when it is saved or shown."""

    # The shown file.

    @property
    def path(self) -> str:
        """The file in the editor; empty when there is none."""
        return self.editor.path

    @property
    def dirty(self) -> bool:
        """Whether the editor has unsaved changes."""
        return bool(self.path) and self.editor.buffer.dirty

    @property
    def base(self) -> OpenFile | None:
        """The file as last read; None when there is none, or when it is not on disk yet."""
        return self.editor.buffer.base

    @property
    def hands_on(self) -> bool:
        """Whether the user is at work in the editor, so that no other file may be shown."""
        return self.editor.busy or self.dirty

    async def open(self, path: str) -> bool:
        """Show ``path`` for the user; other open files stay as they are. False when it cannot be shown."""
        shown = path == self.path or await self.order.run(lambda: self._open(path))
        if shown:
            self.editor.buffer.pinned = True
            self.on_change()
        return shown

    async def make(self, path: str) -> bool:
        """Make an empty file and show it for the user. False where it cannot be made, which is told."""
        try:
            made = await self.order.run(lambda: self.files.make(path))
        except FileProblem as problem:
            self.say(str(problem), "warning")
            return False
        return await self.open(made.path)

    async def bring(self, path: str, *, new: bool = False) -> bool:
        """Show ``path`` for a hunk, unless the user is at work in another file; ``new``: the hunk creates it.
        Called in order."""
        if path == self.path:
            return True
        if self.hands_on:
            return False
        return await self._open(path, new=new, unasked=True)

    async def _open(self, path: str, *, new: bool = False, unasked: bool = False) -> bool:
        buffer = self.buffers.of(path)
        if buffer is None:
            try:
                file = await self.files.read(path)
            except FileProblem as problem:
                if new:
                    self.show(Buffer(path, self._rows_changed))
                    return True
                if unasked:  # what became of the hunk is told by the hunk
                    return False
                self.problem = str(problem)
                self.on_change()
                self.say(self.problem, "warning")
                return False
            await asyncio.to_thread(lexer_for, path=file.path)  # the tables of a language take up to 50 ms
            buffer = self.buffers.of(file.path) or Buffer(file.path, self._rows_changed)
            if buffer.base is None:
                buffer.opened(file)
                buffer.history.seed(self._landed_in(file.path))
        self.show(buffer)
        return True

    async def restore(self, path: str, text: str, base: str) -> bool:
        """Show ``path`` with an unsaved ``text``, which was typed when ``base`` was on disk."""
        if not await self.open(path):
            return False
        buffer = self.editor.buffer

        async def merge() -> None:
            version = -1
            while version != buffer.version:
                version = buffer.version
                merged = await self.files.merge(base, text, buffer.text)
            buffer.restore(merged)

        await self.order.run(merge)
        self.on_change()
        return True

    def show(self, buffer: Buffer) -> None:
        """Show an open file, or a new one."""
        self.problem = ""
        self.editor.put_down()
        self.buffers.show(buffer)
        self.editor.show(buffer)
        self.on_change()
        self._tell_text(buffer)

    def close(self, buffer: Buffer) -> None:
        """Close a file, with its unsaved text and its history; show the one that was shown before it."""
        shown = buffer is self.buffers.shown
        before = self.buffers.close(buffer)
        if shown and before is not None:
            self.show(before)
        elif shown:
            self.editor.show(Buffer(""))
            self.on_change()

    async def close_new(self, path: str) -> None:
        """Close a file that a hunk was to create and did not. Called in order."""
        buffer = self.buffers.of(path)
        if buffer is not None and buffer.base is None and not buffer.dirty:
            self.close(buffer)

    def _rows_changed(self, buffer: Buffer, rows: Rows) -> None:
        """The text of an open file changed."""
        for signs in (self.marks, self.editor.notes):
            signs.edited(buffer.path, rows.row, len(rows.old), len(rows.new))
        if buffer is self.editor.buffer:
            self.editor.rows_changed(rows)
        for told in self.changes:
            told(buffer, rows)
        self._tell_text(buffer)

    def _tell_text(self, buffer: Buffer) -> None:
        for told in self.texts:
            told(buffer)

    # Saving.

    async def save(self, buffer: Buffer | None = None) -> bool:
        """Write a file's text to disk, the shown one's by default; true when the disk holds it now. What is
        typed meanwhile stays in the editor, unsaved. A failed save says why and changes no text."""
        buffer = buffer or self.editor.buffer
        return await self.order.run(lambda: self._save(buffer))

    async def _save(self, buffer: Buffer) -> bool:
        if not buffer.dirty:
            return True
        path, base, text = buffer.path, buffer.base, buffer.text
        if buffer.read_only:
            # The file may have become read-only while there were unsaved changes: keep them.
            self.say(f"cannot save {path}: it is read-only; make it writable first", "warning")
            return False
        if base is None:
            self.say(f"cannot save {path}: it is not on disk yet", "warning")
            return False
        try:
            now = await self.files.save(base, text)
        except FileProblem as problem:
            self.say(str(problem), "error")
            await self.take_in(buffer)
            return False
        buffer.saved(now)
        self._tell_text(buffer)
        self.on_change()
        return True

    # What changed on disk.

    async def take_in(self, buffer: Buffer, *, hunk: str = "", undid: bool = False) -> Rows | None:
        """Read a file again and merge the change into its text, in which the user's lines win. ``hunk`` has
        landed there, or was undone. Returns what changed in the text, None where the file is gone. Called in
        order."""
        try:
            file = await self.files.read(buffer.path)
        except FileProblem as problem:
            self._lost(buffer, str(problem), undid=undid)
            return None
        merged, version = None, -1
        while buffer.needs_merge(file) and version != buffer.version:
            version = buffer.version
            merged = await self.files.merge(buffer.origin, buffer.text, file.text)
        rows = buffer.take(file, merged, hunk=hunk, undid=undid)
        if buffer is self.editor.buffer:
            self.editor.read_only = buffer.read_only
        self._tell_text(buffer)
        self.on_change()
        return rows

    def _lost(self, buffer: Buffer, problem: str, *, undid: bool) -> None:
        if buffer.base is None:
            return
        if buffer.dirty:
            self.say(f"{problem}; your unsaved text stays in the editor", "warning")
        else:
            self.problem = problem
            self.close(buffer)
            if not undid:  # the undone hunk made the file; that it is undone is told already
                self.say(problem, "warning")

    # Hunks.

    def marked_here(self) -> Mark | None:
        """The landed hunk under the cursor."""
        return self.marks.at(self.path, self.editor.cursor_location[0]) if self.path else None

    async def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) landed hunk, in any file that can be shown."""
        path, row = self.path, self.editor.cursor_location[0]
        passed: list[str] = []
        while (found := self.marks.neighbour(path, row, step)) is not None and found[1].hunk not in passed:
            if await self.go_to(*found):
                return
            passed.append(found[1].hunk)
            path, row = found[0], found[1].start
        if not passed:
            self.say("no hunk has landed yet", "info")

    async def go_to(self, path: str, mark: Mark) -> bool:
        """Go to a landed hunk; false where its file cannot be shown."""
        if not await self.open(path):
            return False
        self.editor.touched = monotonic()  # the next hunk must not take the view away again
        self.editor.reveal(mark.start, last=mark.end - 1)
        self.on_put()
        self.say(f"{mark.hunk} · {path}:{mark.start + 1}", "info")
        return True
