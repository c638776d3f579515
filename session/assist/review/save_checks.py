"""The free part of a review on save: the checks that the user agreed to, on what changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from session.assist.review.change import ReviewedChange
from session.assist.review.finding import ReviewFinding, Severity
from session.base.text.sanitize import clean_line
from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status
from session.commands.check_commands import CheckCommands, CheckError

QUICK = frozenset({Kind.SYNTAX, Kind.LINT})
"""The kinds of checks that run on save: those that take moments."""


class SaveChecks:
    """Runs the quick ones of the agreed checks."""

    def __init__(self, checks: CheckCommands) -> None:
        self._checks = checks

    async def findings(self, change: ReviewedChange) -> AsyncGenerator[tuple[str, ReviewFinding], None]:
        """What the checks find on changed lines, each with the name of its check."""
        paths = [file.path for file in change.files]
        try:
            agreed = await self._checks.agreed()
        except CheckError:  # there is none
            return
        for check in agreed:
            taken = [path for path in paths if check.takes(path)]
            if check.kind not in QUICK or not taken:
                continue
            verdict = await self._checks.runner().run(check, taken)
            if verdict.status is Status.RED:
                for found in verdict.findings:
                    if (finding := _finding(found, check, change)) is not None:
                        yield check.name, finding


def _finding(found: Finding, check: Check, change: ReviewedChange) -> ReviewFinding | None:
    file = change.file(found.path)
    if file is None or not 1 <= found.line <= len(file.after) or not file.touches(found.line, found.line):
        return None
    severity = Severity.ERROR if check.kind is Kind.SYNTAX else Severity.WARNING
    message = clean_line(found.message)
    return ReviewFinding(found.path, found.line, found.line, severity, check.name, message, "")
