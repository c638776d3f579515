"""Saves by other programs: which of the files they changed are worth a review.

Rules:

1. A file counts once nothing has changed for a moment, and where it differs from what HEAD has: what a
   checkout, a pull or a stash writes does not.
2. More than a few files at once are not a save, but a formatter or a build. Nothing counts while git is in
   the middle of a merge or a rebase.
3. What spark wrote does not count, nor does anything while another spark has the project open: that one
   reviews its own saves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import ClassVar

from context.disk.source import Unread, read
from session.assist.review.git_change import NoRepositoryError, committed
from session.assist.review.on_save import SaveReview
from session.base.events import Event, FileSaved, FilesChanged, HunkLanded, HunkRedone, HunkUndone
from session.base.tasks import BackgroundTasks

QUIET_SECONDS = 1.0
"""Without a change for so long, a save is over."""
EVERY_SECONDS = 10.0
"""Least seconds between two reviews of such saves."""
MOST_FILES = 3
"""Files that a person saves at once."""
_MOST_CHANGED = 50
"""Changed files from which on it is not looked who changed each of them."""


class OutsideSaves:
    """Has the saves of other programs reviewed. Methods are called on the event loop; files are read in
    threads."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        FilesChanged,
        FileSaved,
        HunkUndone,
        HunkRedone,
        HunkLanded,
    )
    """The events that :meth:`take` looks at."""

    def __init__(
        self,
        root: Path,
        alone: Callable[[], bool],
        wanted: Callable[[], bool],
        review: Callable[[], SaveReview],
        tasks: BackgroundTasks,
    ) -> None:
        """``alone`` says, in a thread, whether no other spark has the project open; ``wanted`` whether saves
        are reviewed, by ``review``."""
        self._root = root
        self._alone = alone
        self._wanted = wanted
        self._review = review
        self._tasks = tasks
        self._changed: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        """When the next review may begin, by the loop's clock."""
        self._writing: set[str] = set()
        """The files that spark wrote, and whose text is to be noted."""
        self._written: dict[str, int] = {}
        """The hash of the text that spark wrote last in a file."""
        self._noting: asyncio.Task[None] | None = None

    def take(self, event: Event) -> None:
        """Take one event of the session in."""
        match event:
            case FilesChanged(paths=paths) if self._wanted():
                self._changed.update(paths)
                self._look_soon()
            case FileSaved(path=path):
                self._note(path)
            case HunkUndone() | HunkRedone():
                self._note(event.place)
            case HunkLanded(path=path, moved_to=moved_to):
                self._note(moved_to or path)
            case _:
                pass

    # What spark wrote itself.

    def _note(self, path: str) -> None:
        self._writing.add(path)
        if self._noting is None or self._noting.done():
            self._noting = self._tasks.start(self._note_all(), "noting what was written")

    async def _note_all(self) -> None:
        while self._writing:
            paths, self._writing = self._writing, set()
            self._written |= await asyncio.to_thread(self._hashes, paths)

    def _hashes(self, paths: Collection[str]) -> dict[str, int]:
        found = {path: read(self._root, path) for path in paths}
        return {path: hash(each.text) for path, each in found.items() if not isinstance(each, Unread)}

    # What others wrote.

    def _look_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(max(loop.time() + QUIET_SECONDS, self._next), self._due)

    def _due(self) -> None:
        self._timer = None
        self._tasks.start(self._look(), "looking at what other programs saved")

    async def _look(self) -> None:
        if self._noting is not None:
            await self._noting
        paths, self._changed = self._changed, set()
        await self._review().changed_elsewhere(paths)
        found = await asyncio.to_thread(self._found, paths if len(paths) <= _MOST_CHANGED else ())
        if found is None or not self._wanted():
            return
        head, before = found
        if before:
            self._next = asyncio.get_running_loop().time() + EVERY_SECONDS
        self._review().saved_elsewhere(head, before)

    def _found(self, paths: Collection[str]) -> tuple[str, dict[str, tuple[str, ...]]] | None:
        """HEAD, and the files that another program saved, as they are in it; none where they are many."""
        if not self._alone():
            return None
        try:
            asked = committed(self._root, paths)
        except NoRepositoryError:
            return None
        if asked is None:
            return None
        saved = {}
        for path, before in asked.texts.items():
            now = read(self._root, path)
            if isinstance(now, Unread) or tuple(now.lines) == before:
                continue
            if self._written.get(path) != hash(now.text):
                saved[path] = before
        return asked.head, saved if len(saved) <= MOST_FILES else {}
