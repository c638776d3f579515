"""Runs the checks of a race on the project and on what attempts make of it, each in a sandbox of its own.

How long a check of an attempt may take follows from what it took before any change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from session.checks.check import Check
from session.checks.finding import Status as CheckStatus
from session.checks.finding import Verdict
from session.checks.runner import RunsChecks
from session.checks.sandbox.command import Edits
from session.race.attempt_files import Change
from session.race.attempt_life import Standing, judge

TIMES_BEFORE = 10.0
"""How many times as long as before any change a check of an attempt may take."""
LEAST_SECONDS, LEAST_IF_RED = 15.0, 60.0
TIMES_SLOW, LEAST_SLOW = 3.0, 5.0
"""How many times as long as before any change, and seconds, after which a check is slow."""


class Judge:
    """Runs ``checks``, by their index. ``reaching`` gives the tests of a check that reach changed files."""

    def __init__(
        self,
        runner: RunsChecks,
        checks: Sequence[Check],
        reaching: Callable[[Check, Sequence[str]], Awaitable[Sequence[str]]],
    ) -> None:
        self._runner = runner
        self._checks = tuple(checks)
        self._reaching = reaching
        self._before: dict[int, Verdict] = {}
        self._open: dict[asyncio.Timeout, tuple[int, float]] = {}
        """The runs, each with its check and when it began."""

    async def baseline(self, check: int) -> Verdict:
        """What a check says of the project as it is."""
        verdict = await self._runner.run(self._checks[check])
        self._before.setdefault(check, verdict)
        for limit in [each for each, (about, _) in self._open.items() if about == check]:
            self._hold(limit)
        return verdict

    def seconds(self, check: int) -> float:
        """The time limit of a check of an attempt: a multiple of what it took before any change, as far as
        that is known. Where it was red then it may have ended early, and has a minute at least."""
        asked, before = self._checks[check], self._before.get(check)
        if before is None or before.status is CheckStatus.UNCLEAR:
            return asked.seconds
        least = LEAST_SECONDS if before.status is CheckStatus.GREEN else LEAST_IF_RED
        return min(asked.seconds, max(least, TIMES_BEFORE * before.seconds))

    def is_slow(self, check: int, seconds: float) -> bool:
        """Whether a run that goes on after ``seconds`` takes much longer than before any change."""
        before = self._before.get(check)
        return before is not None and seconds > max(LEAST_SLOW, TIMES_SLOW * before.seconds)

    async def attempt(self, check: int, change: Change) -> Verdict:
        """What a check says of an attempt; green for one that is about none of its files.

        Tests that reach the changed files run first; all run where those find nothing new.
        """
        asked = self._checks[check]
        edits = change.files
        if not any(asked.takes(path) for path in edits):
            return Verdict(asked, CheckStatus.GREEN, 0.0)
        there = [path for path, content in edits.items() if content is not None]
        if asked.takes_files and not any(asked.takes(path) for path in there):
            return Verdict(asked, CheckStatus.GREEN, 0.0)
        tests = await self._reaching(asked, sorted(edits)) if asked.takes_tests else ()
        if tests:
            first = await self._in_time(check, asked.only(tests), there, edits)
            if first.hung or judge(first, self._before.get(check)).standing is Standing.RED:
                return first
        return await self._in_time(check, asked, there, edits)

    async def _in_time(self, check: int, asked: Check, there: Sequence[str], edits: Edits) -> Verdict:
        """Run it, and end it at its time limit, which may become known only while it runs."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(None) as limit:
                self._open[limit] = check, began
                self._hold(limit)
                return await self._runner.run(asked, there, edits=edits)
        except TimeoutError:
            took = asyncio.get_running_loop().time() - began
        finally:
            del self._open[limit]
        before = self._before[check].seconds
        why = f"it was ended after {took:.0f} s; before any change it took {before:.1f} s"
        return Verdict(asked, CheckStatus.UNCLEAR, took, why=why, hung=True)

    def _hold(self, limit: asyncio.Timeout) -> None:
        """Hold a run to its time limit, where that is not the check's own."""
        check, began = self._open[limit]
        seconds = self.seconds(check)
        if seconds < self._checks[check].seconds:
            limit.reschedule(began + seconds)

    async def close(self) -> None:
        """End what the checks have begun."""
        await self._runner.close()
