"""The states of one attempt, from its first token to its end, and what a check says of it, given what it said
of the project before. Pure: values in, values out.

Rules, which the table holds:

1. An attempt is judged once its answer is whole, and only as long as every check passes.
2. An attempt whose files become what another one made of them is not judged: it shares that one's verdict.
3. A red check waits for the baseline where that is not known yet, or where tests fail in some runs only.
4. A judged attempt may answer again; one that comes to nothing then ends with the best of its answers.
5. Cutting ends an attempt from every live state. Only a green one can win.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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

    @property
    def failures(self) -> int:
        """How many findings speak against the attempt: those of a flaky check are the ones of every run."""
        if self.standing is Standing.RED:
            return len(self.verdict.findings) or 1
        return len(self.verdict.findings) if self.standing is Standing.UNCLEAR else 0

    @property
    def says(self) -> tuple[object, ...]:
        """All that the model could be told of it."""
        return self.verdict.check.name, self.verdict.findings, self.verdict.excerpt or self.verdict.last


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


def _first(verdict: Verdict) -> str:
    """The first reason of a red verdict, in one line."""
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
    REPEAT = "repeat"
    """It answers again."""
    REOPEN = "reopen"
    """What it failed by turned out to fail in some runs only."""
    GREEN = "green"
    RED = "red"
    CUT = "cut"
    WIN = "win"


_ENDS = {Signal.GREEN: State.GREEN, Signal.RED: State.RED, Signal.CUT: State.CUT}

TABLE: dict[State, dict[Signal, State]] = {
    State.STREAMING: {
        Signal.ANSWERED: State.WAITING,
        Signal.SAME: State.SAME,
        Signal.FAIL: State.FAILED,
        **_ENDS,
    },
    State.WAITING: {Signal.CHECK: State.CHECKING, **_ENDS},
    State.CHECKING: {
        Signal.AGAIN: State.WAITING,
        Signal.HOLD: State.HELD,
        Signal.NEXT: State.WAITING,
        Signal.REPEAT: State.STREAMING,
        **_ENDS,
    },
    State.HELD: {
        Signal.AGAIN: State.WAITING,
        Signal.HOLD: State.HELD,
        Signal.NEXT: State.WAITING,
        Signal.REPEAT: State.STREAMING,
        **_ENDS,
    },
    State.SAME: {Signal.REPEAT: State.STREAMING, **_ENDS},
    State.GREEN: {Signal.WIN: State.WON},
    State.RED: {Signal.REOPEN: State.WAITING},
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


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of an attempt that was judged to its end, which is ``GREEN`` or ``RED``; ``number`` is from
    1."""

    number: int
    result: Result
    judgements: tuple[Judgement, ...]
    state: State
    why: str

    @property
    def rank(self) -> tuple[bool, int, int, int, int]:
        """The order of an attempt's answers, the best first; of equal ones the last."""
        passed = sum(each.standing.passes for each in self.judgements)
        failures = sum(each.failures for each in self.judgements)
        return self.state is State.RED, -passed, failures, self.result.lines, -self.number


@dataclass(slots=True)
class AttemptLife:
    """One attempt. Only :meth:`advance` changes its state."""

    number: int
    """From 1."""
    state: State = State.STREAMING
    result: Result = field(default_factory=lambda: Result("", 0))
    judgements: list[Judgement] = field(default_factory=list)
    """Its judgements so far, in the order of the checks."""
    answer: int = 1
    """The number of the answer that these are of, or that streams."""
    asked: int = 1
    """How many answers were asked of it."""
    past: list[Answer] = field(default_factory=list)
    """Its answers that it did not end with."""
    asked_enough: bool = False
    """Whether it ended once: it is not asked for another answer then."""
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

    def begin_again(self, judged: Answer) -> None:
        """Answer again, after ``judged``."""
        self.advance(Signal.REPEAT)
        self.past.append(judged)
        self.answer = self.asked = self.asked + 1
        self.result, self.judgements, self.same_as, self.why = Result("", 0), [], 0, ""

    def keep(self, judged: Answer) -> None:
        """Have ``judged`` count in the place of the last answer."""
        self.same_as = self.same_as if judged.number == self.answer else 0
        self.result, self.judgements, self.answer = judged.result, list(judged.judgements), judged.number
        self.why = judged.why
