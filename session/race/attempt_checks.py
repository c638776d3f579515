"""Runs the checks of a race, each in a sandbox of its own that holds one attempt's files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from session.checks.check import Check
from session.checks.finding import Status, Verdict
from session.checks.runner import RunsChecks
from session.race.attempt_files import AttemptFiles
from session.race.judgement import Standing, judge


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

    async def baseline(self, check: int) -> Verdict:
        """What a check says of the project as it is."""
        verdict = await self._runner.run(self._checks[check])
        self._before[check] = verdict
        return verdict

    async def attempt(self, check: int, files: AttemptFiles) -> Verdict:
        """What a check says of an attempt; green for one that is about none of its files.

        Tests that reach the changed files run first; all run where those find nothing new.
        """
        asked = self._checks[check]
        edits = files.changed
        if not any(asked.takes(path) for path in edits):
            return Verdict(asked, Status.GREEN, 0.0)
        there = [path for path, content in edits.items() if content is not None]
        if asked.takes_files and not any(asked.takes(path) for path in there):
            return Verdict(asked, Status.GREEN, 0.0)
        tests = await self._reaching(asked, sorted(edits)) if asked.takes_tests else ()
        if tests:
            first = await self._runner.run(asked.only(tests), there, edits=edits)
            if judge(first, self._before.get(check)).standing is Standing.RED:
                return first
        return await self._runner.run(asked, there, edits=edits)

    async def close(self) -> None:
        """End what the checks have begun."""
        await self._runner.close()
