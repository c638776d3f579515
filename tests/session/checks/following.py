"""Hunk and turn checks at work on a folder with a linter of its own: shared by their tests."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from session.base.events import CheckStarted, Event, HunkLanded, TurnEnded, TurnStarted
from session.checks.check import Check, Kind
from session.checks.finding import Finding, LandedHunk, Status, Verdict
from session.checks.hunk_checks import HunkChecks
from session.checks.turn_checks import TurnChecks

LINT = Check("lint", "lint {files}", Kind.LINT, files=("*.py",))
TESTS = Check("tests", "tests", Kind.TESTS)


class Linter:
    """Finds the word "wrong" in files, when it is let go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[tuple[str, list[str] | None]] = []
        self.go = asyncio.Semaphore(0)

    async def judge(self, check: Check, changed: Sequence[str] | None) -> Verdict:
        self.asked.append((check.name, list(changed) if changed is not None else None))
        await self.go.acquire()
        paths = changed if changed is not None else [path.name for path in self.root.iterdir()]
        findings = tuple(
            Finding(path, number, line)
            for path in paths
            for number, line in enumerate((self.root / path).read_text().splitlines(), 1)
            if "wrong" in line
        )
        return Verdict(check, Status.RED if findings else Status.GREEN, 0.0, findings)


class Followed:
    """Hunk and turn checks at work on a folder, and the events they publish."""

    def __init__(self, root: Path, *checks: Check, tests: Sequence[str] = ()) -> None:
        self.linter = Linter(root)
        self.events: list[Event] = []
        self.places: dict[str, LandedHunk] = {}
        self.judged: list[str] = []
        self.tests = tests
        self.looked_back: list[tuple[str, ...]] = []
        self.before: Verdict | None = None
        """What the checks say of the files as they were; green where it is not given."""
        judge = self.linter.judge

        def publish(event: Event) -> None:
            if not isinstance(event, CheckStarted):
                self.events.append(event)

        self.hunks = HunkChecks(root, checks, judge, self._places, publish)
        self.turns = TurnChecks(
            root,
            checks,
            judge,
            self._reaching,
            self._look_back,
            publish,
            self.hunks.settled,
            self.judged.append,
        )
        self.tasks = [
            asyncio.create_task(self.hunks.judge_hunks()),
            asyncio.create_task(self.turns.judge_turns()),
        ]

    def take(self, event: Event) -> None:
        if isinstance(event, HunkLanded):
            self.places.setdefault(event.hunk, LandedHunk(event.hunk, event.path, event.start, event.end))
        self.hunks.take(event)
        self.turns.take(event)

    async def _places(self, hunks: Collection[str]) -> Mapping[str, LandedHunk]:
        return {hunk: self.places[hunk] for hunk in hunks if hunk in self.places}

    async def _reaching(self, check: Check, changed: Sequence[str]) -> Sequence[str]:
        return self.tests

    async def _look_back(self, check: Check, hunks: Sequence[str]) -> Verdict:
        self.looked_back.append(tuple(hunks))
        return self.before or Verdict(check, Status.GREEN, 0.0)

    async def asked(self, count: int) -> None:
        """Wait until the linter was asked ``count`` times."""
        while len(self.linter.asked) < count:
            await asyncio.sleep(0.001)

    async def looked(self) -> None:
        """Wait until the look before a turn is taken."""
        while self.hunks._looking is None or not self.hunks._looking.done():
            await asyncio.sleep(0.001)

    async def told(self, count: int) -> list[Event]:
        """Wait for ``count`` events and forget them."""
        while len(self.events) < count:
            await asyncio.sleep(0.001)
        told, self.events[:] = list(self.events), []
        return told

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        ended = await asyncio.gather(*self.tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended


def started() -> TurnStarted:
    return TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1)


def turn_ended() -> TurnEnded:
    return TurnEnded(turn="t1", status="completed")


def landed(hunk: str, start: int, path: str = "a.py") -> HunkLanded:
    return HunkLanded("t1", hunk, path, "applied", 1, start, start + 1)
