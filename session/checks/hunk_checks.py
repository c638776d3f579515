"""Checks that follow the hunks: cheap ones while the answer still streams, the rest when the turn is over.

Before the first hunk lands, the cheap checks run once on the project as it is, so that what was wrong before
is not held against a hunk. A hunk is never judged by a file that has changed meanwhile: it is judged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from session.checks.blame import NOTHING_KNOWN, Before, LandedHunk, before_edits, judge_hunks
from session.checks.check import Check, Kind
from session.checks.finding import Status, Verdict
from session.events import CheckEnded, Event, HunkChecked, HunkLanded, HunkUndone, TurnEnded, TurnStarted

CHEAP = frozenset({Kind.SYNTAX, Kind.LINT})
"""The kinds that run for each hunk."""

Judge = Callable[[Check, Sequence[str] | None], Awaitable[Verdict]]
"""Runs a check for changed files, or for the whole project."""


class HunkChecks:
    """Judges the hunks of one session with ``checks``. All methods are called on the event loop."""

    def __init__(
        self, root: Path, checks: Iterable[Check], judge: Judge, publish: Callable[[Event], None]
    ) -> None:
        self._root = root
        self._cheap = [check for check in checks if check.kind in CHEAP]
        self._costly = [check for check in checks if check.kind not in CHEAP]
        self._judge = judge
        self._publish = publish
        self._pending: list[LandedHunk] = []
        self._red: dict[str, LandedHunk] = {}
        """The hunks that were red last; a later hunk in the same file may mend what they lack."""
        self._touched: set[str] = set()
        """The files in which hunks of the running turn landed."""
        self._before: dict[str, Before] = {}
        """The findings of each cheap check before the turn."""
        self._look_before = False
        self._work = asyncio.Event()
        self._turn_over = asyncio.Event()
        self._project: asyncio.Task[None] | None = None
        """The run of the costly checks."""

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case TurnStarted():
                self._touched = set()
                self._look_before = True
                self._work.set()
                if self._project is not None:
                    self._project.cancel()  # the state that it looks at will be gone
            case HunkLanded(hunk=hunk, path=path, start=start, end=end, status=status):
                if status != "already_applied":
                    self._touched.add(event.moved_to or path)
                    self._pending.append(LandedHunk(hunk, event.moved_to or path, start, end))
                    self._work.set()
            case HunkUndone(hunk=hunk):
                self._pending = [each for each in self._pending if each.hunk != hunk]
                self._red.pop(hunk, None)
            case TurnEnded() if self._touched:
                self._turn_over.set()
            case _:
                pass

    async def judge_hunks(self) -> None:
        """Judge what lands, until cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            if self._look_before:
                self._look_before = False
                await self._run_before()
            while self._pending:
                batch, self._pending = self._pending, []
                paths = {each.path for each in batch}
                known = {each.hunk for each in batch}
                again = [red for red in self._red.values() if red.path in paths and red.hunk not in known]
                await self._judge_batch([*again, *batch])

    async def judge_turns(self) -> None:
        """Run the costly checks after each turn that changed something, until cancelled."""
        while True:
            await self._turn_over.wait()
            self._turn_over.clear()
            self._project = asyncio.create_task(self._judge_project(sorted(self._touched)))
            try:
                await asyncio.wait({self._project})
            finally:
                self._project.cancel()
                await asyncio.wait({self._project})
            if not self._project.cancelled():
                self._project.result()

    async def _run_before(self) -> None:
        """Run the cheap checks before the first hunk lands."""
        touched = self._touched
        self._before = {}
        for check in self._cheap:
            verdict = await self._judge(check, None)
            self._before[check.name] = before_edits(verdict, touched)

    async def _judge_batch(self, batch: list[LandedHunk]) -> None:
        for check in self._cheap:
            hunks = [hunk for hunk in batch if check.takes(hunk.path)]
            paths = sorted({hunk.path for hunk in hunks})
            if not paths:
                continue
            stamps = await asyncio.to_thread(self._stamps, paths)
            verdict = await self._judge(check, paths)
            now = await asyncio.to_thread(self._stamps, paths)
            changed = {path for path in paths if stamps[path] != now[path]}
            self._again([hunk for hunk in hunks if hunk.path in changed])
            self._tell(check, verdict, [hunk for hunk in hunks if hunk.path not in changed])

    def _again(self, hunks: list[LandedHunk]) -> None:
        """Judge ``hunks`` with the next batch: their files changed under the check."""
        waiting = {hunk.hunk for hunk in self._pending}
        self._pending += [hunk for hunk in hunks if hunk.hunk not in waiting]

    def _tell(self, check: Check, verdict: Verdict, hunks: list[LandedHunk]) -> None:
        before = self._before.get(check.name, NOTHING_KNOWN)
        for judged in judge_hunks(hunks, verdict, before):
            finding = judged.finding
            if judged.status is Status.RED:
                self._red[judged.hunk.hunk] = judged.hunk
            else:
                self._red.pop(judged.hunk.hunk, None)
            why = verdict.why if judged.status is Status.UNCLEAR else ""
            self._publish(
                HunkChecked(
                    hunk=judged.hunk.hunk,
                    path=judged.hunk.path,
                    check=check.name,
                    status=str(judged.status),
                    line=finding.line if finding else 0,
                    message=finding.message if finding else why,
                )
            )

    async def _judge_project(self, paths: Sequence[str]) -> None:
        for check in self._costly:
            if any(check.takes(path) for path in paths):
                publish_verdict(await self._judge(check, paths), self._publish)

    def _stamps(self, paths: Iterable[str]) -> dict[str, tuple[int, int, int] | None]:
        return {path: _stamp(self._root / path) for path in paths}


def publish_verdict(verdict: Verdict, publish: Callable[[Event], None]) -> None:
    """Publish how a check of the project ended."""
    publish(
        CheckEnded(
            check=verdict.check.name,
            status=str(verdict.status),
            seconds=round(verdict.seconds, 3),
            findings=tuple(map(str, verdict.findings)),
            why=verdict.why,
        )
    )


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """A stamp that changes when the file is written or replaced; None where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
