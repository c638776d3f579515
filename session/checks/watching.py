"""A command that runs at every change of the project, and tells only what is newly red or newly green.

One run at a time: what changes while it runs leads to one more run after it. A command that writes files of
the project itself would run for ever; it waits longer before each such run.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from session.base.events import Event, FileSaved, FilesChanged, HunkLanded, HunkRedone, HunkUndone, WatchTold
from session.base.text.sanitize import clean_line
from session.checks.excerpt import LOUD
from session.checks.output import Failure
from session.checks.shell_run import Ran
from session.record.outputs import printable

QUIET = 0.3
"""Seconds without a change after which the command runs."""
MOST_TOLD = 20
"""New lines that are told of one run at most."""
LONGEST_WAIT = 60.0
"""Most seconds before a run that only files of the command's own led to."""
_FREE = 2
"""How many such runs in a row need not wait."""
_LONGEST = 300
_SLACK = 50_000_000
"""Nanoseconds by which the clock of the files may differ from that of the process."""

Read = Callable[[str, Ran], Awaitable[Failure]]
Tell = Callable[[WatchTold, Failure | None], None]
Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its size."""


class Watch:
    """Watches with ``line``, which ``run`` runs; ``read`` reads why it failed."""

    def __init__(self, line: str, root: Path, run: Callable[[], Awaitable[Ran]], read: Read) -> None:
        self.line = line
        self._root = root
        self._run = run
        self._read = read
        self._wanted = asyncio.Event()
        self._changed: set[str] = set()
        self._seen: dict[str, Stamp | None] = {}
        """The files that led to runs, as they were then."""
        self._last = (0, 0)
        """When the last run began and ended, in nanoseconds."""
        self._own = 0
        """The runs in a row that only what was written during the run before led to."""
        self._told: Counter[str] | None = None
        """What was red in the last run; None before the first."""

    def take(self, event: Event) -> None:
        """Take note of what changes the project."""
        match event:
            case FileSaved(path=path) | HunkLanded(path=path) | HunkUndone(path=path) | HunkRedone(path=path):
                self._changed.add(path)
            case FilesChanged(paths=paths):
                self._changed |= set(paths)
            case _:
                return
        self._wanted.set()

    async def follow(self, tell: Tell) -> None:
        """Run the command now and after every change, until cancelled."""
        await self._once(tell)
        while True:
            await self._wanted.wait()
            while self._wanted.is_set():  # a burst of changes is over when nothing comes for a while
                self._wanted.clear()
                await asyncio.sleep(QUIET)
            changed, self._changed = self._changed, set()
            now = await asyncio.to_thread(self._stamps, changed)
            news = {path: stamp for path, stamp in now.items() if stamp != self._seen.get(path)}
            self._seen |= now
            if news:
                await self._wait_for_own(news.values())
                await self._once(tell)

    async def _once(self, tell: Tell) -> None:
        began = time.time_ns()
        ran = await self._run()
        self._last = (began, time.time_ns())
        failure = await self._read(self.line, ran) if ran.code else None
        if (told := self._news(ran, failure)) is not None:
            tell(told, failure)

    async def _wait_for_own(self, stamps: Iterable[Stamp | None]) -> None:
        """Wait before a run to which only files led that were written during the last one."""
        began, ended = self._last
        own = all(stamp and began - _SLACK <= stamp[0] <= ended + _SLACK for stamp in stamps)
        self._own = self._own + 1 if own else 0
        if self._own > _FREE:
            await asyncio.sleep(min(LONGEST_WAIT, 2.0 ** (self._own - _FREE)))

    def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        return {path: _stamp(self._root / path) for path in paths}

    def _news(self, ran: Ran, failure: Failure | None) -> WatchTold | None:
        """What is to be told of a run; None where it says what the last one said."""
        now = Counter(_lines(ran, failure))
        before, self._told = self._told, now
        red, green = now - (before or Counter()), (before or Counter()) - now
        if before is not None and not red and not green:
            return None
        return WatchTold(
            line=clean_line(self.line),
            how=ran.how,
            red=tuple(red.elements())[:MOST_TOLD],
            green=tuple(green.elements())[:MOST_TOLD],
            left=now.total(),
        )


def _lines(ran: Ran, failure: Failure | None) -> list[str]:
    """What is wrong, a line each; without line numbers, which move with every edit."""
    if failure is None:
        return []
    findings = [each for each in failure.findings if each.message]
    if findings:
        return [f"{each.path}: {each.message}" for each in findings]
    lines = [line.strip() for line in printable(ran.output).split("\n") if line.strip()]
    loud = [line for line in lines if LOUD.search(line)]
    last = [*lines[-1:], *loud[-1:]]
    return [clean_line(last[-1][:_LONGEST]) if last else ran.how.partition(" · ")[0]]


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
