"""The states of one attempt, from its first token to its end, and what a check says of it, given what it said
of the project before. Pure: values in, values out.

Rules, which the table holds:

1. An attempt is judged once its answer is whole, and only as long as every check passes.
2. An attempt whose files become what another one made of them is not judged: it shares that one's end.
3. A red check waits for the baseline where that is not known yet: it may have been red before.
4. Cutting ends an attempt from every live state. Only a green one can win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from session.checks.check import Kind
from session.checks.finding import Finding, Status, Verdict, before_edits, new_findings

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

    @property
    def failures(self) -> int:
        """How many findings speak against the attempt: those of a flaky check are the ones of every run."""
        if self.standing is Standing.RED:
            return len(self.verdict.findings) or 1
        return len(self.verdict.findings) if self.standing is Standing.UNCLEAR else 0


def agree(first: Verdict, again: Verdict) -> bool:
    """Whether two runs of a check on the same files say the same: both are red only where a finding is in
    both, if they have any."""
    if first.status is not again.status or first.status is not Status.RED:
        return first.status is again.status
    return not (first.findings and again.findings) or bool(in_both(first, again))


def in_both(first: Verdict, again: Verdict) -> tuple[Finding, ...]:
    """The findings of the second verdict at places where the first one has some, too."""
    known = set(map(_place, first.findings))
    return tuple(each for each in again.findings if _place(each) in known)


def _place(finding: Finding) -> tuple[str, int | str]:
    """The assertion of a test is where it is, whatever it says of an attempt."""
    return finding.path, finding.line or finding.message


def contradicted(verdict: Verdict, others: Sequence[Verdict]) -> bool:
    """Whether no other verdict has found anything where the red ``verdict`` has."""
    red = [other for other in others if other.status is Status.RED]
    if not verdict.findings or not all(other.findings for other in red):
        return bool(others) and not red
    return bool(others) and not any(in_both(other, verdict) for other in red)


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


def flaky(first: Verdict, again: Verdict) -> Judgement:
    """The judgement of a check that said one thing, and another when it was run again. What it found both
    times is left of its findings."""
    red = next((str(each) for verdict in (first, again) for each in verdict.findings), "")
    said = f": {red}" if red else ""
    why = f"{again.check.name} is flaky: green in one run and red in another, on the same files{said}"
    return Judgement(Standing.UNCLEAR, replace(again, findings=in_both(first, again)), why=why)


def _first(verdict: Verdict) -> str:
    if verdict.findings:
        return str(verdict.findings[0])
    last = verdict.last.splitlines()
    return last[-1].strip() if last else verdict.why


class State(StrEnum):
    """The states of an attempt."""

    STREAMING = "streaming"
    WAITING = "waiting"
    """Its answer is whole; its next check waits for its turn."""
    CHECKING = "checking"
    HELD = "held"
    """A check is red, and it is not known whether it was red before."""
    SAME = "same"
    GREEN = "green"
    RED = "red"
    CUT = "cut"
    FAILED = "failed"
    WON = "won"


class Signal(StrEnum):
    """What can happen to an attempt."""

    ANSWERED = "answered"
    SAME = "same"
    FAIL = "fail"
    CHECK = "check"
    AGAIN = "again"
    HOLD = "hold"
    NEXT = "next"
    GREEN = "green"
    RED = "red"
    CUT = "cut"
    WIN = "win"


TABLE: dict[State, dict[Signal, State]] = {
    State.STREAMING: {
        Signal.ANSWERED: State.WAITING,
        Signal.SAME: State.SAME,
        Signal.FAIL: State.FAILED,
        Signal.CUT: State.CUT,
    },
    State.WAITING: {Signal.CHECK: State.CHECKING, Signal.CUT: State.CUT},
    State.CHECKING: {
        Signal.AGAIN: State.WAITING,
        Signal.HOLD: State.HELD,
        Signal.NEXT: State.WAITING,
        Signal.GREEN: State.GREEN,
        Signal.RED: State.RED,
        Signal.CUT: State.CUT,
    },
    State.HELD: {
        Signal.NEXT: State.WAITING,
        Signal.AGAIN: State.WAITING,
        Signal.GREEN: State.GREEN,
        Signal.RED: State.RED,
        Signal.CUT: State.CUT,
    },
    State.SAME: {Signal.GREEN: State.GREEN, Signal.RED: State.RED, Signal.CUT: State.CUT},
    State.GREEN: {Signal.WIN: State.WON},
    State.RED: {},
    State.CUT: {},
    State.FAILED: {},
    State.WON: {},
}
LIVE = frozenset({State.STREAMING, State.WAITING, State.CHECKING, State.HELD, State.SAME})


class IllegalSignalError(Exception):
    """A signal that the table does not allow in this state: a fault in spark."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a whole answer does to the project. ``key`` is equal for answers that do the same, and empty for
    one that changes nothing; ``lines`` are the changed lines."""

    key: str
    lines: int


@dataclass(slots=True)
class AttemptLife:
    """One attempt. Only :meth:`advance` changes its state."""

    number: int
    """From 1."""
    state: State = State.STREAMING
    result: Result = field(default_factory=lambda: Result("", 0))
    judgements: list[Judgement] = field(default_factory=list)
    """Its judgements so far, in the order of the checks."""
    first_run: Verdict | None = None
    """The verdict of a check that is run again."""
    runs: int = 0
    """The runs of that check so far."""
    held: Verdict | None = None
    same_as: int = 0
    """The attempt that does the same; 0 if there is none."""
    why: str = ""

    @property
    def live(self) -> bool:
        """Whether anything can still happen to it, other than to win."""
        return self.state in LIVE

    def advance(self, signal: Signal) -> None:
        """Change the state as ``signal`` demands. Raises IllegalSignalError if it is not allowed now."""
        try:
            self.state = TABLE[self.state][signal]
        except KeyError:
            raise IllegalSignalError(f"{signal} while {self.state} in attempt {self.number}") from None
