"""What a check says of an attempt, given what it said of the project before. Pure: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from session.checks.check import Kind
from session.checks.finding import Status, Verdict, before_edits, new_findings

RUN_AGAIN = frozenset({Kind.TESTS, Kind.OTHER})
"""The kinds of checks that may be flaky, so that a lone disagreement of one is run again."""


class Standing(StrEnum):
    """How an attempt stands with one check."""

    GREEN = "green"
    AS_BEFORE = "as_before"
    """It is red, as it was before, and nothing is wrong that was not wrong before."""
    RED = "red"
    UNCLEAR = "unclear"

    @property
    def passes(self) -> bool:
        """Whether the next check may run."""
        return self in (Standing.GREEN, Standing.AS_BEFORE)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The standing with one check; ``left`` and ``mended`` count the findings that were there before and
    still are, or are no more. ``why`` is the first reason against the attempt, in one line."""

    standing: Standing
    verdict: Verdict
    left: int = 0
    mended: int = 0
    why: str = ""


def judge(verdict: Verdict, baseline: Verdict | None) -> Judgement:
    """The judgement of ``verdict``. A check that was red before is held against the attempt only where it
    finds something new; ``baseline`` is None where it is not known, which counts as green."""
    if verdict.status is Status.GREEN:
        mended = len(baseline.findings) if baseline is not None else 0
        return Judgement(Standing.GREEN, verdict, mended=mended)
    if verdict.status is Status.UNCLEAR:
        return Judgement(Standing.UNCLEAR, verdict, why=verdict.why)
    if baseline is None or baseline.status is not Status.RED or not (verdict.findings and baseline.findings):
        return Judgement(Standing.RED, verdict, why=_first(verdict))
    new = new_findings(verdict.findings, before_edits(baseline, ()))
    if new:
        return Judgement(Standing.RED, verdict, why=str(new[0]))
    left = len(verdict.findings)
    mended = max(0, len(baseline.findings) - left)
    return Judgement(Standing.AS_BEFORE, verdict, left, mended, f"still red: {_first(verdict)}")


def flaky(verdict: Verdict) -> Judgement:
    """The judgement of a check that said one thing, and another when it was run again."""
    why = f"{verdict.check.name} is flaky: green in one run and red in another, on the same files"
    return Judgement(Standing.UNCLEAR, verdict, why=why)


def _first(verdict: Verdict) -> str:
    if verdict.findings:
        return str(verdict.findings[0])
    last = verdict.last.splitlines()
    return last[-1].strip() if last else verdict.why
