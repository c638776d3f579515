"""Runs the checks of a race, each in a sandbox of its own that holds one attempt's files."""

from __future__ import annotations

from collections.abc import Sequence

from session.attempts.attempt_files import AttemptFiles
from session.checks.check import Check
from session.checks.finding import Status, Verdict
from session.checks.runner import CheckRunner


class Judge:
    """Runs ``checks``, by their index."""

    def __init__(self, runner: CheckRunner, checks: Sequence[Check]) -> None:
        self._runner = runner
        self._checks = tuple(checks)

    async def baseline(self, check: int) -> Verdict:
        """What a check says of the project as it is."""
        return await self._runner.run(self._checks[check])

    async def attempt(self, check: int, files: AttemptFiles) -> Verdict:
        """What a check says of an attempt; green for one that is about none of its files."""
        asked = self._checks[check]
        edits = files.changed
        if not any(asked.takes(path) for path in edits):
            return Verdict(asked, Status.GREEN, 0.0)
        there = [path for path, content in edits.items() if content is not None]
        if asked.takes_files and not any(asked.takes(path) for path in there):
            return Verdict(asked, Status.GREEN, 0.0)
        return await self._runner.run(asked, there, edits=edits)
