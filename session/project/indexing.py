"""Reads the project and keeps reading it: the picture that windows are built from, and news of its files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic

from context.disk.watch import Watcher
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from session.events import FilesChanged, Notice, ReadingProgress
from session.journal.recorder import Recorder
from session.project.typing_pause import Pause
from session.text.sanitize import clean_line

TELL_SECONDS = 0.3
"""Seconds between two progress events of a long reading."""
LOOK_SECONDS = 5.0
"""How long to go without looking whether something changed that no event told of."""
_BURST = 64
"""Number of changes in one event from which others may have been lost."""
_QUIET = 0.4
"""Seconds without news after which what git or a burst did is taken to be over, …"""
_LONGEST = 3.0
"""… and how long that is waited for."""


def differing(before: Snapshot, after: Snapshot) -> set[str]:
    """The files that differ between two pictures, as far as the changed ones and the list of files tell."""
    paths = {*before.changes, *after.changes}
    if before.paths is not after.paths:
        paths |= {*before.paths} ^ {*after.paths}
    elif len(before.entries) != len(after.entries):
        paths |= {path for path in after.paths if path not in before.entries}
    return {path for path in paths if before.entries.digest(path) != after.entries.digest(path)}


class ProjectReading:
    """The project at ``root``, read in threads. ``known`` is set once a window can be built that lacks a few
    files at most, ``ready`` once all of it is known."""

    def __init__(self, root: Path, cache: Path, recorder: Recorder) -> None:
        self.project = Project(root, cache)
        self.counter = Counter()
        self.known = asyncio.Event()
        self.ready = asyncio.Event()
        self.pause = Pause()
        """When the token ranks are loaded: for a seventh of a second that lets no other thread run."""
        self._watcher = Watcher(root)
        self._publish = recorder.publish
        self._asked = asyncio.Event()
        self._news = asyncio.Event()
        self._looked = self._changed = 0.0

    @property
    def snapshot(self) -> Snapshot:
        """What is known now; while the first reading goes on, it grows."""
        return self.project.snapshot

    def is_ignored(self, path: str) -> bool:
        """Whether git leaves ``path`` out; without git nobody has said that it may be shown around."""
        return not self.snapshot.git or path not in self.snapshot.paths

    async def run(self) -> None:
        """Read everything, then what changes, until cancelled."""
        loop, nearly = asyncio.get_running_loop(), asyncio.Event()
        scan = partial(self.project.scan, partial(loop.call_soon_threadsafe, nearly.set))
        await asyncio.gather(self._count(nearly), self._scan(scan, nearly))
        self.ready.set()
        await asyncio.to_thread(self._watcher.start)
        # What changed between the reading and the watching, nobody told of.
        self._asked.set()
        for note in (*self.snapshot.notes, self._watcher.note):
            if note:
                self._publish(Notice(level="info", text=clean_line(note)))
        await asyncio.gather(self._follow(), self._look())

    async def _count(self, nearly: asyncio.Event) -> None:
        """Have exact counts, and tell when they and nearly all of the project are there."""
        await self.pause.come()
        await asyncio.to_thread(self.counter.load)
        await nearly.wait()
        self.known.set()

    async def _scan(self, scan: Callable[[], object], nearly: asyncio.Event) -> None:
        await self._told(scan)
        nearly.set()

    async def _follow(self) -> None:
        """Take in what the watcher tells."""
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
        """Look at the whole project when asked to: the system tells nobody when it loses events."""
        while True:
            await self._asked.wait()
            await self._settled()
            before = self.snapshot
            self._asked.clear()
            after = await asyncio.to_thread(self.project.reconcile)
            self._looked = monotonic()
            missed = sorted(clean_line(path) for path in differing(before, after))
            if missed:
                self._publish(FilesChanged(paths=tuple(missed)))

    async def _settled(self) -> None:
        """Wait until no news came for a while: git removes files that it is about to write again, and a
        folder that is made anew is not watched from its first moment."""
        latest = monotonic() + _LONGEST
        with suppress(TimeoutError):
            while self._changed + _QUIET > monotonic() and monotonic() < latest:
                self._news.clear()
                async with asyncio.timeout(_QUIET):
                    await self._news.wait()

    def look_again(self) -> None:
        """The user is back, or begins to type after a pause: what the picture shows had better be true."""
        if self.ready.is_set() and monotonic() - self._looked > LOOK_SECONDS:
            self._asked.set()

    async def _told(self, read: Callable[[], object]) -> None:
        """Read in a thread; where it takes long, tell how far it is."""
        reading = asyncio.ensure_future(asyncio.to_thread(read))
        told = (0, 0)
        try:
            while not (await asyncio.wait({reading}, timeout=TELL_SECONDS))[0]:
                now = self.project.progress
                # Once every file is known, work remains (saving the index). Readers take "all known" for
                # the end, so that is sent when the reading has ended.
                if now != told and now[0] < now[1] and not self.snapshot.complete:
                    told = now
                    self._publish(ReadingProgress(*now))
            await reading
        finally:
            reading.cancel()
            if told[1]:
                total = max(told[1], len(self.snapshot.paths))
                self._publish(ReadingProgress(known=total, total=total))

    async def close(self) -> None:
        """End a reading that is under way, and stop watching."""
        self.project.close()
        await asyncio.to_thread(self._watcher.stop)
