"""Reads the project, follows its changes, and publishes them: the state that windows are built from.

Folders that are not one project, such as the home folder: reading all of one may take very long.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

from context.disk.watch import Watcher
from context.index.outliner import OUTLINER
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.sorting import set_in_parts
from context.text.tokens import Counter
from session.base.events import FilesChanged, Notice, ReadingHeld, ReadingProgress
from session.base.storage.private_files import replace_private
from session.base.text.sanitize import clean_line
from session.project.typing_pause import TypingPause
from session.record.journal.recorder import Recorder

MANY = 4
"""The number of repositories in a folder from which on it is taken for a collection of projects."""
_MOST_LOOKED_AT = 400
"""Entries of a folder that are looked at; this is no search."""


def why_wide(root: Path) -> str:
    """Why ``root`` should not be read without a question; empty for a project. It blocks for a moment."""
    home = Path.home().resolve()
    if root == root.parent:
        return "this folder is the root of the file system"
    if root == home:
        return "this folder is your home folder"
    if home.is_relative_to(root):
        return "your home folder is in this folder"
    if not (root / ".git").exists() and _repositories(root, MANY) >= MANY:
        return f"this folder holds {MANY} repositories or more"
    return ""


def _repositories(folder: Path, wanted: int, depth: int = 2) -> int:
    """The number of repositories in ``folder`` and in the folders in it; not counted beyond ``wanted``."""
    found = 0
    try:
        with os.scandir(folder) as entries:
            inner = [each for _, each in zip(range(_MOST_LOOKED_AT), entries, strict=False)]
        for entry in inner:
            if found >= wanted or not entry.is_dir(follow_symlinks=False):
                continue
            if (Path(entry.path) / ".git").exists():
                found += 1
            elif depth > 1 and not entry.name.startswith("."):
                found += _repositories(Path(entry.path), wanted - found, depth - 1)
    except OSError:
        return found  # what cannot be listed is not read either
    return found


TELL_SECONDS = 0.3
"""Seconds between two progress events while the project is read."""
LOOK_SECONDS = 5.0
"""Least seconds between two checks for changes that the file watcher missed."""
_LEAST_WAIT = 1.0
"""Least seconds until git is asked again that failed."""
_BURST = 64
"""Number of changes in one event from which on the system may have lost others."""
_QUIET = 0.4
"""Seconds without a change after which a burst of changes is over."""
_LONGEST = 3.0
"""Most seconds to wait for the end of a burst."""


def differing(before: Snapshot, after: Snapshot) -> set[str]:
    """The files that differ between two snapshots, found by their changed files and their lists of files."""
    paths = {*before.changes, *after.changes}
    if before.paths != after.paths:
        old, new = set_in_parts(before.paths), set_in_parts(after.paths)
        paths.update(path for path in before.paths if path not in new)
        paths.update(path for path in after.paths if path not in old)
    elif len(before.entries) != len(after.entries):
        paths |= {path for path in after.paths if path not in before.entries}
    return {path for path in paths if before.entries.digest(path) != after.entries.digest(path)}


class ProjectReading:
    """Reads the project at ``root`` in threads.

    ``known`` is set once a window can be built from all files but a few, ``ready`` once all files are known.
    """

    def __init__(self, root: Path, cache: Path, recorder: Recorder) -> None:
        self.project = Project(root, cache)
        self.counter = Counter()
        self.known = asyncio.Event()
        self.ready = asyncio.Event()
        self.pause = TypingPause()
        """Delays work that would hold up keys to a pause in typing."""
        self._watcher = Watcher(root)
        self._wish = cache / "read-whole"
        """The file that says that the user wants the folder read."""
        self._wanted = asyncio.Event()
        """Set once the user wants a folder read that is not one project."""
        self._publish = recorder.publish
        self._asked = asyncio.Event()
        self._news = asyncio.Event()
        self._looked = self._changed = 0.0
        self._later: asyncio.TimerHandle | None = None
        """Set while a check waits until the last one is long enough ago."""
        self._retry: asyncio.TimerHandle | None = None
        """Set while git fails: it is asked again, also for a user who only reads."""
        self._held = False
        self._problem = ""
        """Why the user's wish could not be kept."""

    @property
    def snapshot(self) -> Snapshot:
        """The project as it is known now. It grows during the first reading."""
        return self.project.snapshot

    @property
    def under_way(self) -> bool:
        """Whether more files may become known without the user: false in a folder that is held back."""
        return not self.snapshot.complete and not (self._held and not self._wanted.is_set())

    def is_ignored(self, path: str) -> bool:
        """Whether git ignores ``path``. Without git every file counts as ignored."""
        return not self.snapshot.git or path not in self.snapshot.paths

    async def run(self) -> None:
        """Read all files, then follow their changes, until cancelled. A folder that is not one project is
        read once the user wants that; until then the session works without its files."""
        loop, nearly = asyncio.get_running_loop(), asyncio.Event()
        if reason := await asyncio.to_thread(self._why_not):
            self._publish(ReadingHeld(reason))
            nearly.set()
            await self._count(nearly)
            self.ready.set()
            await self._wanted.wait()
            await asyncio.to_thread(self._keep_wish)
            self._publish(ReadingHeld(""))
        scan = partial(self.project.scan, partial(loop.call_soon_threadsafe, nearly.set))
        await asyncio.gather(self._count(nearly), self._scan(scan, nearly))
        self.ready.set()
        await asyncio.to_thread(self._watcher.start)
        # Nothing reported the changes between the end of the reading and the start of the watcher.
        self._asked.set()
        await asyncio.to_thread(OUTLINER.prepare, self.snapshot.paths)
        self._tell(self._watcher.note, self._problem)
        await asyncio.gather(self._follow(), self._look())

    def read_anyway(self) -> bool:
        """Read a folder that is not one project; false where nothing is waiting for that."""
        waiting = not self._wanted.is_set() and self._held
        self._wanted.set()
        return waiting

    def _why_not(self) -> str:
        """Why the folder is not read yet. One that the user wanted read is read from then on."""
        reason = "" if self._wish.exists() else why_wide(self.project.root)
        self._held = bool(reason)
        return reason

    def _keep_wish(self) -> None:
        try:
            replace_private(self._wish, b"")
        except OSError as problem:
            self._problem = f"{self._wish}: {problem.strerror}: you will be asked again"

    async def _count(self, nearly: asyncio.Event) -> None:
        """Load exact token counts; set ``known`` once they and nearly all files are there."""
        await asyncio.to_thread(self.counter.load)
        await nearly.wait()
        self.known.set()

    async def _scan(self, scan: Callable[[], object], nearly: asyncio.Event) -> None:
        await self._told(scan)
        nearly.set()

    async def _follow(self) -> None:
        """Read the files that the watcher reports, and publish them."""
        while True:
            paths = await self._watcher.changes()
            self._changed = monotonic()
            self._news.set()
            await self._told(partial(self.project.update, paths))
            own = sorted(clean_line(path) for path in paths if not path.startswith(".git/"))
            if own:
                self._publish(FilesChanged(paths=tuple(own)))
            if len(paths) >= _BURST or any(path.startswith(".git/") for path in paths):
                self._asked.set()

    async def _look(self) -> None:
        """Compare the whole project when asked to, since the system may lose events without notice."""
        while True:
            await self._asked.wait()
            await self._settled()
            before = self.snapshot
            self._asked.clear()
            after = await asyncio.to_thread(self.project.reconcile)
            self._looked = monotonic()
            self._tell_news()
            # In a large project this takes long, as a reading does.
            missed = await asyncio.to_thread(differing, before, after)
            if missed:
                self._publish(FilesChanged(paths=tuple(sorted(map(clean_line, missed)))))

    async def _settled(self) -> None:
        """Wait until no change was reported for a while.

        Git removes files that it is about to write again, and a new folder is not watched from the start.
        """
        latest = monotonic() + _LONGEST
        with suppress(TimeoutError):
            while self._changed + _QUIET > monotonic() and monotonic() < latest:
                self._news.clear()
                async with asyncio.timeout(_QUIET):
                    await self._news.wait()

    def look_again(self) -> None:
        """Check for missed changes, because the user is back or begins to type after a pause: now, or as soon
        as the last check is ``LOOK_SECONDS`` ago."""
        if self.ready.is_set() and self._later is None:
            wait = max(0.0, self._looked + LOOK_SECONDS - monotonic())
            self._later = asyncio.get_running_loop().call_later(wait, self._look_now)

    def _look_now(self) -> None:
        self._later = None
        self._asked.set()

    async def _told(self, read: Callable[[], object]) -> None:
        """Run ``read`` in a thread, and publish its progress if it takes long."""
        reading = asyncio.ensure_future(asyncio.to_thread(read))
        told = (0, 0)
        try:
            while not (await asyncio.wait({reading}, timeout=TELL_SECONDS))[0]:
                now = self.project.progress
                # After every file is known the index is still saved. Front ends take "all known" for the
                # end, so that is sent when the reading has ended.
                if now != told and now[0] < now[1] and not self.snapshot.complete:
                    told = now
                    self._publish(ReadingProgress(*now))
            await reading
            self._tell_news()
        finally:
            reading.cancel()
            if told[1]:
                total = max(told[1], len(self.snapshot.paths))
                self._publish(ReadingProgress(known=total, total=total))

    def _tell_news(self) -> None:
        """Tell what began to fail or works again, and have asked again what fails."""
        self._tell(*self.project.take_news())
        if self._retry is not None:
            self._retry.cancel()
        wait = self.project.ask_git_in
        loop = asyncio.get_running_loop()
        self._retry = None if wait is None else loop.call_later(max(_LEAST_WAIT, wait), self._asked.set)

    def _tell(self, *notes: str | None) -> None:
        for note in filter(None, notes):
            self._publish(Notice(level="info", text=clean_line(note)))

    async def close(self) -> None:
        """Stop a reading in progress, and the watcher."""
        for timer in (self._later, self._retry):
            if timer is not None:
                timer.cancel()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.project.close()  # saves the index, and waits for what reads just now
        self._watcher.stop()
