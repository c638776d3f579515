"""Checks of the whole project: once before anything changes, then after each turn that changed a file.

What was red before anything changed is said once, and not held against a turn. Where a hunk lands before that
is known, a check that is red is asked again about the files as they were. Of tests, those that reach the
changed files run first, then all. Where a turn changes a file before the tests of the last one have ended,
they run again for both, and the hunks are not tested until then.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from session.base.events import (
    CheckEnded,
    CheckStarted,
    Event,
    FileSaved,
    FilesChanged,
    HunkChecked,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    Notice,
    TurnEnded,
    TurnStarted,
)
from session.base.text.sanitize import clean_line
from session.checks.check import Check
from session.checks.finding import Status, Verdict, before_edits, new_findings
from session.checks.hunk_checks import CHEAP, Judge, Stamp, stamp

MOST_TRIES = 3
"""Runs of a check while the files that it is about keep changing."""
CHANGED_SINCE = "with files that changed after the turn"
"""Why a check may be red that a turn is not to blame for."""
PENDING = "pending"
"""The status of a hunk that a check of the project has still to judge."""
AS_BEFORE = "as_before"
"""The status of a check that is red only with what it found before anything changed."""
Reaching = Callable[[Check, Sequence[str]], Awaitable[Sequence[str]]]
"""Gives the tests of a check that reach changed files; none where all are to run."""
LooksBack = Callable[[Check, Sequence[str]], Awaitable[Verdict]]
"""Runs a check on the files as they were before hunks landed."""


class TurnChecks:
    """Judges the turns of one session with those of ``checks`` that are too slow to run for each hunk.

    All methods are called on the event loop. ``settled`` waits for the verdicts on single hunks; ``judged``
    is called with each turn that changed something, once all that is to be said of it was published.
    """

    def __init__(
        self,
        root: Path,
        checks: Iterable[Check],
        judge: Judge,
        reaching: Reaching,
        look_back: LooksBack,
        publish: Callable[[Event], None],
        settled: Callable[[], Awaitable[None]],
        judged: Callable[[str], None],
        *,
        goals: bool = False,
    ) -> None:
        """With ``goals`` the checks are to become green: what was red before counts too."""
        self._goals = goals
        self._root = root
        self._costly = [check for check in checks if check.kind not in CHEAP]
        self._judge = judge
        self._reaching = reaching
        self._look_back = look_back
        self._publish = publish
        self._settled = settled
        self._judged = judged
        self._before: dict[str, Verdict] = {}
        """What each check said before anything changed, without what was mended since."""
        self._landed: dict[str, str] = {}
        """The hunks that landed since, with their files: what was there before may have to be looked at."""
        self._due: set[str] = set()
        """The files that changed in turns whose verdict is not there yet."""
        self._judged_last: set[str] = set()
        """The files of the judging before: what is told of them late is no change of another file."""
        self._ended = ""
        """The last turn that changed something."""
        self._turn_runs = False
        self._unjudged = False
        """Whether something changed since the last judging began."""
        self._disturbed = False
        """Whether another file changed since the check that runs began."""
        self._changed_since = False
        """Whether the user or another program changed a file after that turn."""
        self._turn_over = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case TurnStarted():
                self._turn_runs = True
            case HunkLanded(hunk=hunk, path=path, status=status) if status != "already_applied":
                self._end_run()
                self._landed[hunk] = event.moved_to or path
                self._note_change(event.moved_to or path)
            case HunkUndone() | HunkRedone() if self._turn_runs:
                self._end_run()
                self._note_change(event.place)
            case HunkUndone() | HunkRedone() if not self._due:
                self._end_run()
            case HunkUndone() | HunkRedone() if event.place in self._due:
                pass  # the stamps of these files tell
            case HunkUndone() | HunkRedone() | FileSaved():
                self._disturbed = self._changed_since = True
            case FilesChanged(paths=paths) if set(paths) - self._due - self._judged_last:
                self._disturbed = self._changed_since = True
            case TurnEnded(turn=turn):
                self._turn_runs = False
                if self._unjudged:
                    self._ended, self._changed_since = turn, False
                    self._turn_over.set()
            case _:
                pass

    def _note_change(self, path: str) -> None:
        self._due.add(path)
        self._unjudged = True

    def _end_run(self) -> None:
        """End the run before a change that it would see. What it was to judge is not tested until the end of
        the turn that makes the change."""
        if self._running is None or self._running.done() or self._running.cancelling():
            return
        self._running.cancel()
        for check in self._costly:
            for hunk, path in self._landed.items():
                if path in self._due and check.takes(path):
                    self._publish(HunkChecked(hunk, path, check.name, PENDING, message="not tested yet"))

    async def judge_turns(self) -> None:
        """Run the checks once, then after each turn that changed something, until cancelled."""
        while not self._due and not self._goals and not await self._run(self._look_before()):
            pass
        while True:
            await self._turn_over.wait()
            self._turn_over.clear()
            self._unjudged = False
            paths = sorted(self._due)
            await self._run(self._judge_turn(self._ended, paths))

    async def _run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do ``work`` until it ends or :meth:`take` ends it; returns whether it ended by itself."""
        self._running = asyncio.create_task(work)
        try:
            await asyncio.wait({self._running})
        finally:
            self._running.cancel()
            await asyncio.wait({self._running})
        if self._running.cancelled():
            return False
        self._running.result()
        return True

    async def _look_before(self) -> None:
        for check in self._costly:
            self._take_before(check, await self._judge(check, None))

    async def _know_before(self, check: Check) -> None:
        """Find out what ``check`` said before anything changed, where that is not known yet."""
        if check.name not in self._before and not self._goals:
            self._take_before(check, await self._look_back(check, tuple(self._landed)))

    def _take_before(self, check: Check, verdict: Verdict) -> None:
        self._before[check.name] = verdict
        if verdict.status is Status.RED:
            self._publish(Notice(level="info", text=_red_before(verdict)))
        elif verdict.status is Status.UNCLEAR:
            text = f"{check.name} says nothing of the project before any change: {verdict.why}"
            self._publish(Notice(level="warning", text=text))

    async def _judge_turn(self, turn: str, paths: Sequence[str]) -> None:
        await self._settled()
        for check in self._costly:
            if any(check.takes(path) for path in paths):
                self._publish(CheckStarted(check.name))
                verdict = await self._verdict(check, paths)
                if self._changed_since and verdict.status is Status.RED:
                    verdict = replace(verdict, why=", ".join(filter(None, (verdict.why, CHANGED_SINCE))))
                self._publish(self._ended_event(check, verdict))
        self._due.difference_update(paths)
        self._judged_last = set(paths)
        self._judged(turn)

    async def _verdict(self, check: Check, paths: Sequence[str]) -> Verdict:
        """What ``check`` says: its first tests where those find something new, else all."""
        tests = await self._reaching(check, paths) if check.takes_tests else ()
        if tests:
            first = await self._steadily(check.only(tests), paths)
            if first.status is Status.RED:
                await self._know_before(check)
            if first.status is Status.RED and not self._as_before(check, first):
                return replace(
                    first, why=f"{first.why}, in tests that reach the change; the others did not run"
                )
        verdict = await self._steadily(check, paths)
        if verdict.status is Status.RED:
            await self._know_before(check)
        self._forget_mended(check, verdict)
        return verdict

    async def _steadily(self, check: Check, paths: Sequence[str]) -> Verdict:
        """Run ``check`` on files that stay as they are while it runs."""
        for _ in range(MOST_TRIES):
            self._disturbed = False
            stamps = await asyncio.to_thread(self._stamps, paths)
            verdict = await self._judge(check, paths)
            if stamps == await asyncio.to_thread(self._stamps, paths) and not self._disturbed:
                return verdict
            self._changed_since = True
        why = f"files changed in each of {MOST_TRIES} runs; /check runs it again"
        return Verdict(check, Status.UNCLEAR, verdict.seconds, why=why)

    # What was there before.

    def _as_before(self, check: Check, verdict: Verdict) -> bool:
        """Whether a red ``verdict`` finds nothing that was not found before anything changed."""
        before = self._before.get(check.name)
        if before is None or before.status is not Status.RED:
            return False
        if not verdict.findings or not before.findings:
            return not verdict.findings and not before.findings
        return not new_findings(verdict.findings, before_edits(before, ()))

    def _forget_mended(self, check: Check, verdict: Verdict) -> None:
        """What was mended is held against the turn that breaks it again."""
        if verdict.status is Status.UNCLEAR or self._goals:
            return
        before = self._before.setdefault(check.name, verdict)
        left = Counter((each.path, each.message) for each in verdict.findings)
        kept = []
        for finding in before.findings:
            if left[finding.path, finding.message] > 0:
                left[finding.path, finding.message] -= 1
                kept.append(finding)
        still = verdict.status is Status.RED and bool(kept or not before.findings)
        status = before.status if still else Status.GREEN
        self._before[check.name] = replace(before, status=status, findings=tuple(kept))

    def _ended_event(self, check: Check, verdict: Verdict) -> CheckEnded:
        before = self._before.get(check.name)
        new = verdict.findings
        if before is not None and before.status is Status.RED:
            new = tuple(new_findings(verdict.findings, before_edits(before, ())))
        as_before = verdict.status is Status.RED and self._as_before(check, verdict)
        return ended_event(
            replace(verdict, findings=new),
            status=AS_BEFORE if as_before else "",
            before=len(verdict.findings) - len(new),
        )

    def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        return {path: stamp(self._root / path) for path in paths}


def ended_event(verdict: Verdict, *, status: str = "", before: int = 0) -> CheckEnded:
    """How a check of the project ended."""
    return CheckEnded(
        check=verdict.check.name,
        status=status or str(verdict.status),
        seconds=round(verdict.seconds, 3),
        findings=tuple(map(str, verdict.findings)),
        why=verdict.why,
        before=before,
        walls=verdict.walls,
        excerpt=verdict.excerpt,
        places=tuple(f"{place.path}:{place.line}" for place in verdict.places),
    )


def _red_before(verdict: Verdict) -> str:
    """A line about a check that was red before anything changed."""
    count = len(verdict.findings)
    first = f"{count} findings, the first is {verdict.findings[0]}" if count > 1 else verdict.why
    found = str(verdict.findings[0]) if count == 1 else first
    return clean_line(f"{verdict.check.name} is red before any change and is not held against one: {found}")
