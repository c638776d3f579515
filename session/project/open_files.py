"""The project's files as the editor pane, or an editor outside of spark, has them open.

The pane's text goes out with ``\\n`` endings; saving puts back each line's own ending and the file's
encoding, through the same durable write that lands hunks.

What an outer editor has, perhaps unsaved, and what is on disk are made one before a hunk lands and after: the
hunk is placed in what the user sees, and what the user typed meanwhile stays.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from edits.files.diff import paired
from edits.files.merge import Merged, merge3
from edits.files.path_jail import Changed, Target, resolve
from edits.files.text import FileError, TextFile, joined, split
from edits.files.tree import Tree
from session.base.events import FileSaved
from session.base.text.sanitize import clean_line
from session.project.definitions import Definition, definitions_in
from session.project.edit_thread import EditThread
from session.project.opened import FileProblem, OpenFile
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder


class ProjectFiles:
    """Opens, saves and lists the files of a workspace."""

    def __init__(self, workspace: Workspace, thread: EditThread, recorder: Recorder) -> None:
        self._workspace = workspace
        self._root = workspace.root
        self._tree = Tree(workspace.root)
        self._ledger = workspace.ledger
        self._thread = thread
        self._publish = recorder.publish
        self.on_saved: Callable[[str, tuple[str, ...]], None] = lambda path, before: None
        """Called after each save by the user, with the lines that were there before."""

    def list(self) -> tuple[str, ...]:
        """The project's files as paths from the root, in order."""
        return tuple(self._workspace.files())

    def open(self, path: str) -> OpenFile:
        """Read ``path`` (from the root). Raises FileProblem if it cannot be read or is not text."""
        try:
            target = resolve(self._root, path)
            source = self._tree.read_text(target.name, path)
        except FileError as problem:
            raise FileProblem(clean_line(problem.message)) from problem
        except OSError as problem:
            raise FileProblem(f"{clean_line(path)} cannot be opened: {problem.strerror}") from problem
        text = "\n".join(source.lines) + ("\n" if source.endings and source.endings[-1] else "")
        return OpenFile(
            path=target.path,
            text=text,
            version=source.sha256,
            encoding=source.encoding,
            newline=_usual_ending(source),
            read_only=not self._writable(target),
            source=source,
        )

    async def read(self, path: str) -> OpenFile:
        """Like :meth:`open`, in a worker thread."""
        return await asyncio.to_thread(self.open, path)

    async def make(self, path: str) -> OpenFile:
        """Make an empty file called ``path`` (from the root), with the folders that it needs, and read it.
        Raises FileProblem where there is such a file, or none may be made."""
        made = await self._thread.run(lambda: self._make(path))
        self._publish(FileSaved(path=clean_line(made.path)))
        self.on_saved(made.path, ())
        return made

    def _make(self, path: str) -> OpenFile:
        try:
            with self._ledger.exclusive():
                target = resolve(self._root, path)
                self._tree.make_folders(target.name)
                self._tree.write(target.name, b"")
                return self.open(target.path)
        except Changed as problem:
            raise FileProblem(f"{clean_line(path)} is there already") from problem
        except FileError as problem:
            raise FileProblem(clean_line(problem.message)) from problem
        except OSError as problem:
            raise FileProblem(f"{clean_line(path)} cannot be made: {problem.strerror}") from problem

    async def definitions(self, path: str, text: str) -> tuple[Definition, ...]:
        """The definitions in ``text``, which is that of ``path`` in the editor; parsed in a worker thread."""
        return await asyncio.to_thread(definitions_in, path, text)

    async def save(self, opened: OpenFile, text: str) -> OpenFile:
        """Write ``text`` in place of ``opened`` and return the file as it is now.

        The write happens in the edit thread and under the ledger's lock, so no landing of this or of
        another process comes in between. Raises FileProblem when the file changed on disk since it was
        opened (open it again, merge, save again), is read-only, or the system refuses; then nothing was
        written.
        """
        saved = await self._thread.run(lambda: self.save_here(opened, text))
        self._publish(FileSaved(path=clean_line(saved.path)))
        self.on_saved(saved.path, opened.source.lines)
        return saved

    def save_here(self, opened: OpenFile, text: str) -> OpenFile:
        """Like :meth:`save`, for callers in the edit thread; no event tells of it."""
        try:
            with self._ledger.exclusive():
                target = resolve(self._root, opened.path)
                self._tree.check_writable(target.name, opened.path)
                self._write(target, opened, opened.source.encode(with_endings(opened.source, text)))
                return self.open(opened.path)
        except Changed as problem:
            raise FileProblem(
                f"{clean_line(opened.path)} changed on disk since it was read; nothing was saved"
            ) from problem
        except FileError as problem:
            raise FileProblem(clean_line(problem.message)) from problem
        except OSError as problem:
            raise FileProblem(f"{clean_line(opened.path)} cannot be saved: {problem.strerror}") from problem

    async def merge(self, base: str, mine: str, theirs: str) -> Merged:
        """The three-way merge of what the user has (``mine``) with the disk (``theirs``), made in a worker
        thread; where both changed the same lines, mine stand."""
        return await asyncio.to_thread(merge3, base, mine, theirs)

    def _write(self, target: Target, opened: OpenFile, data: bytes) -> None:
        old = self._tree.read_if_there(target.name, target.path)
        in_place = old is not None and self._tree.must_stay_in_place(target.name)
        if in_place and old is not None:
            # The old bytes must survive a crash in the middle of an overwrite.
            self._ledger.keep(old)
        self._tree.write(target.name, data, expected=opened.version, in_place=in_place)

    def _writable(self, target: Target) -> bool:
        try:
            self._tree.check_writable(target.name, target.path)
        except FileError:
            return False
        return True


def with_endings(source: TextFile, text: str) -> str:
    """``text`` (``\\n`` endings) with the endings of ``source``: lines that stayed or were changed keep
    their own, new ones get the usual one of the file."""
    lines, given = split(text)
    usual = _usual_ending(source)
    if set(source.endings) <= {usual, ""}:
        return joined(lines, [usual if ending else "" for ending in given])
    endings = [usual if ending else "" for ending in given]
    for old, new in paired(source.lines, lines):
        if source.endings[old] and endings[new]:
            endings[new] = source.endings[old]
    return joined(lines, endings)


def _usual_ending(source: TextFile) -> str:
    counts = Counter(ending for ending in source.endings if ending)
    return counts.most_common(1)[0][0] if counts else "\n"


class OuterEditor(Protocol):
    """The editor's side. Both methods are called in the edit thread, and wait."""

    def read(self, path: str) -> str | None:
        """The text that the editor has of ``path``; None where it does not tell."""
        ...

    def write(self, path: str, text: str) -> None:
        """Give the editor the text of ``path``, which it also saves."""
        ...


class OuterTexts:
    """Keeps the files of the project and the texts of an outer editor the same, in the edit thread."""

    def __init__(self, editor: OuterEditor, files: ProjectFiles) -> None:
        self._editor = editor
        self._files = files
        self._agreed: dict[str, str] = {}
        """The text of each file that was the same on both sides when last looked at."""

    def before(self, path: str) -> None:
        """Save what is typed and not saved in ``path``, where the file does not contradict it."""
        opened = self._open(path)
        typed = self._typed(opened)
        if opened is None or typed is None:
            return
        if typed != opened.text:
            merged = merge3(self._agreed.get(opened.path, opened.text), typed, opened.text)
            if merged.conflicts or not self._save(opened, merged.text):
                return
            typed = merged.text
        self._agreed[opened.path] = typed

    def after(self, path: str) -> None:
        """Show the editor what ``path`` says now. Where what was typed meanwhile contradicts it, nothing is
        done: the editor then has unsaved text in a file that changed on disk, and asks its user."""
        opened = self._open(path)
        typed = self._typed(opened)
        if opened is None or typed is None or opened.path not in self._agreed:
            return
        text = opened.text
        if typed != text:
            merged = merge3(self._agreed[opened.path], typed, text)
            if merged.conflicts:
                return
            text = merged.text
            self._editor.write(opened.path, text)
        self._agreed[opened.path] = text

    def _open(self, path: str) -> OpenFile | None:
        try:
            return self._files.open(path)
        except FileProblem:
            return None

    def _typed(self, opened: OpenFile | None) -> str | None:
        text = self._editor.read(opened.path) if opened is not None else None
        return None if text is None else text.replace("\r\n", "\n")

    def _save(self, opened: OpenFile, text: str) -> bool:
        try:
            self._files.save_here(opened, text)
        except FileProblem:
            return False
        return True
