"""One thing a check found, and the verdict of a check.

Which landed hunk a finding belongs to, and which findings are new. Pure: values in, values out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from session.base.text.sanitize import clean
from session.checks.check import Check
from session.checks.sandbox.command import Walls


class Status(StrEnum):
    """The status of a check."""

    GREEN = "green"
    RED = "red"
    UNCLEAR = "unclear"
    """It did not run, or did not end by itself, so it says nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place and what is wrong there; ``line`` is 0 where only the file is known."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        path = clean(self.path)  # an attempt may name a file as it likes
        place = f"{path}:{self.line}" if self.line else path
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one run of a check. ``last`` are the last lines of its output, for where no finding has a
    place; ``note`` says what the sandbox could not hold back."""

    check: Check
    status: Status
    seconds: float
    findings: tuple[Finding, ...] = ()
    why: str = ""
    """Why it is unclear, or how it ended."""
    last: str = ""
    note: str = ""
    ran: bool = True
    """Whether its command could be run at all."""
    walls: Walls = ""
    """The walls it ran in."""
    hung: bool = False
    """Whether it was ended since it took much longer than before any change, or passed its time limit."""
    excerpt: str = ""
    """What of its output says why it is red."""
    places: tuple[Finding, ...] = ()
    """The lines of the project that its output names, findings first."""
    where: str = "here"
    """Where it ran: on this machine, or the name of a worker of the cluster."""


Known = Counter[tuple[str, str]]
"""Findings by path and message, without lines: those move with every edit."""


@dataclass(frozen=True, slots=True)
class Before:
    """The findings before the edits. Of the files in ``unknown`` nothing is known, nor of any file where
    ``whole`` is false."""

    findings: Known
    unknown: frozenset[str] = frozenset()
    whole: bool = True

    def knows(self, path: str) -> bool:
        """Whether it is known what was wrong in the file ``path``."""
        return self.whole and path not in self.unknown


NOTHING_KNOWN = Before(Counter(), whole=False)


@dataclass(frozen=True, slots=True)
class LandedHunk:
    """A hunk as it landed: lines ``start`` up to ``end``, which is one past the last."""

    hunk: str
    path: str
    start: int
    end: int

    def distance(self, line: int) -> int:
        """The number of lines between ``line`` and the hunk; 0 inside it."""
        return max(self.start - line, line - max(self.start, self.end - 1), 0)


@dataclass(frozen=True, slots=True)
class HunkVerdict:
    """The verdict of a check on one hunk, with the findings that the hunk is blamed for."""

    hunk: LandedHunk
    status: Status
    findings: tuple[Finding, ...] = ()


def before_edits(verdict: Verdict, changed: Collection[str], blamed: Iterable[Finding] = ()) -> Before:
    """The findings of a run before the edits, without those for which earlier hunks are ``blamed``; the files
    in ``changed`` were changed while it ran."""
    if verdict.status is Status.UNCLEAR:
        return NOTHING_KNOWN
    return Before(_known(verdict.findings) - _known(blamed), frozenset(changed))


def _known(findings: Iterable[Finding]) -> Known:
    return Counter((finding.path, finding.message) for finding in findings)


def new_findings(findings: Sequence[Finding], before: Before) -> list[Finding]:
    """The findings that are not among those ``before``; of equal ones, the last are new."""
    left = Counter(before.findings)
    new = []
    for finding in findings:
        key = (finding.path, finding.message)
        if left[key] > 0 and before.knows(finding.path):
            left[key] -= 1
        else:
            new.append(finding)
    return new


def judge_hunks(hunks: Sequence[LandedHunk], verdict: Verdict, before: Before) -> list[HunkVerdict]:
    """Split ``verdict`` into one verdict for each of ``hunks``.

    Each new finding is blamed on the nearest hunk in its file. Where nothing is known of a file before the
    edits, only findings inside a hunk count. Where a check is red without any place, no hunk can be blamed
    or cleared.
    """
    if verdict.status is Status.UNCLEAR or (verdict.status is Status.RED and not verdict.findings):
        return [HunkVerdict(hunk, Status.UNCLEAR) for hunk in hunks]
    blamed: dict[LandedHunk, list[Finding]] = {}
    for finding in new_findings(verdict.findings, before):
        inside = [hunk for hunk in hunks if hunk.path == finding.path]
        nearest = min(inside, key=lambda hunk: hunk.distance(finding.line), default=None)
        if nearest and (before.knows(finding.path) or nearest.distance(finding.line) == 0):
            blamed.setdefault(nearest, []).append(finding)
    return [
        HunkVerdict(hunk, Status.RED if hunk in blamed else Status.GREEN, tuple(blamed.get(hunk, ())))
        for hunk in hunks
    ]
