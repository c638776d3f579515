"""A race: several attempts at one prompt, judged by checks as they come. No I/O.

Each method takes one thing that happened and returns the effects that follow from it, in order; the shell
carries them out and reports back what checks say. Checks run cheapest first, at most ``slots`` at a time,
those on the untouched project (the *baseline*) before all others.

The first attempt with which all checks are green wins at once, and the others are cut. Where checks were red
before, an attempt that leaves them as they were can win too, once all have been judged; but not where all
checks were red and it mended nothing. A verdict of tests that others contradict is run again before it
counts, a green one more often where many attempts are red: one of them is green by chance sooner. One that
then differs counts as flaky, and nothing lands on it. Among equals the one with the fewest changed lines
wins. Without a winner, the best is offered: the most checks passed, the fewest tests that failed in every
run, the most attempts that agree, the fewest lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from session.checks.check import Check
from session.checks.finding import Status, Verdict
from session.race.attempt_life import (
    RUN_AGAIN,
    AttemptLife,
    Judgement,
    Result,
    Signal,
    Standing,
    State,
    agree,
    contradicted,
    flaky,
    in_both,
    judge,
)

BASELINE = 0
"""Stands for the untouched project where an attempt's number is expected."""
FLAKE = 0.05
"""The share of runs in which a flaky check is taken to say the wrong thing."""
MOST_WRONG = 0.01
"""The greatest chance with which one of several wrong attempts may be green in all its runs."""

MOST_OVERTIME = 4
"""Runs beside those in slots that take much longer than before any change."""


@dataclass(frozen=True, slots=True)
class RunCheck:
    """Run a check, by its index, on an attempt or on the baseline; report to ``Race.checked``."""

    attempt: int
    check: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the attempt's connection, or end its check, now."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Checked:
    """Tell what a check said of an attempt."""

    attempt: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Ended:
    """Tell how an attempt ended: ``green``, ``red``, ``cut`` or ``failed``, or ``won``."""

    attempt: int
    state: State
    why: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The race is over. ``winner`` is to land; without one (0) ``best`` is offered, if there is any."""

    winner: int
    best: int
    why: str
    """Why nobody won, or what is still red with the winner."""


Effect = RunCheck | Cut | Checked | Ended | Decided


class Race:
    """A race of ``attempts`` attempts, judged by ``checks``, which are given cheapest first.

    With ``judge_all`` no attempt is cut for a green one: all are judged, and the best green one wins.
    """

    def __init__(
        self, attempts: int, checks: Sequence[Check], *, slots: int, judge_all: bool = False
    ) -> None:
        self.lives = {number: AttemptLife(number) for number in range(1, attempts + 1)}
        self.checks = tuple(checks)
        self._slots = slots
        self._judge_all = judge_all
        self._baseline: dict[int, Verdict] = {}
        self._running: set[RunCheck] = set()
        self._overtime: set[RunCheck] = set()
        """The runs that take much longer than before any change: they hold no slot."""
        self._asked: set[int] = set()
        """The checks whose baseline runs or ran."""
        self.flaky: set[int] = set()
        """The checks that said two things of the same files; each later verdict of theirs is run again."""
        self._limit = ""
        """The limit that was reached, if one was."""
        self.decision: Decided | None = None

    @property
    def over(self) -> bool:
        """Whether it is decided; nothing follows from anything then."""
        return self.decision is not None

    def begin(self) -> list[Effect]:
        """The attempts stream; the baseline can run."""
        return self._next()

    def answered(self, attempt: int, result: Result, refusals: str = "") -> list[Effect]:
        """An attempt's answer is whole. ``refusals`` says which of its hunks were refused, if any were."""
        life = self.lives[attempt]
        if life.state is not State.STREAMING or self.over:
            return []
        life.result = result
        if not result.key:
            return self.failed(attempt, "; ".join(filter(None, ("it changed nothing", refusals))))
        twin = next((each for each in self.lives.values() if self._is_twin(each, life)), None)
        if twin is None:
            life.advance(Signal.ANSWERED)
            return self._next()
        life.advance(Signal.SAME)
        life.same_as = twin.number
        life.why = f"the same as attempt {twin.number}"
        shared = self._share(twin) if not twin.live else []
        return [*shared, *self._next()]

    def failed(self, attempt: int, why: str) -> list[Effect]:
        """An attempt has no answer that could be judged."""
        life = self.lives[attempt]
        if life.state is not State.STREAMING or self.over:
            return []
        return [self._end(life, Signal.FAIL, why), *self._next()]

    def checked(self, attempt: int, check: int, verdict: Verdict) -> list[Effect]:
        """A check has run."""
        self._running.discard(RunCheck(attempt, check))
        self._overtime.discard(RunCheck(attempt, check))
        if self.over:
            return []
        if attempt == BASELINE:
            return [*self._baseline_ran(check, verdict), *self._next()]
        life = self.lives[attempt]
        return [*self._ran(life, check, verdict), *self._next()] if life.live else self._next()

    def overtime(self, run: RunCheck) -> list[Effect]:
        """A check takes much longer than it should: most likely it waits, so that another one can run."""
        if self.over or run not in self._running or len(self._overtime) >= max(MOST_OVERTIME, self._slots):
            return []
        self._running.discard(run)
        self._overtime.add(run)
        return self._next()

    def stop_streaming(self, why: str) -> list[Effect]:
        """No more tokens may be spent: whole answers are still judged."""
        self._limit = self._limit or why
        return self._cut_all([life for life in self.lives.values() if life.state is State.STREAMING], why)

    def stop(self, why: str) -> list[Effect]:
        """End the race now, with what has been judged."""
        self._limit = self._limit or why
        return self._cut_all([life for life in self.lives.values() if life.live], why)

    def abandon(self, why: str) -> list[Effect]:
        """End the race now, without a winner and without an offer."""
        if self.over:
            return []
        live = [life for life in self.lives.values() if life.live]
        ends: list[Effect] = [each for life in live for each in self._cut(life, why)]
        self.decision = Decided(0, 0, why)
        return [*ends, self.decision]

    def order(self) -> list[AttemptLife]:
        """The attempts that changed something, the best first."""
        judged = [life for life in self.lives.values() if life.result.key and not life.same_as]
        return sorted(judged, key=self._rank)

    def all_green(self, life: AttemptLife) -> bool:
        """Whether every check is green with ``life``, and none only as red as before."""
        judged = self.lives[life.same_as or life.number].judgements
        passed = life.state in (State.GREEN, State.WON)
        return passed and all(each.standing is Standing.GREEN for each in judged)

    # -- verdicts ------------------------------------------------------------------------------

    def _baseline_ran(self, check: int, verdict: Verdict) -> list[Effect]:
        self._baseline[check] = verdict
        if not verdict.ran:
            return self.abandon(f"{self.checks[check].name} judges nothing: {verdict.why}")
        effects: list[Effect] = []
        for life in self.lives.values():
            if life.state is State.HELD and life.held is not None and len(life.judgements) == check:
                effects += self._weigh(life, check, life.held)
        return effects

    def _ran(self, life: AttemptLife, check: int, verdict: Verdict) -> list[Effect]:
        if verdict.status is Status.RED and check not in self._baseline:
            life.advance(Signal.HOLD)
            life.held = verdict
            return []
        return self._weigh(life, check, verdict)

    def _weigh(self, life: AttemptLife, check: int, verdict: Verdict) -> list[Effect]:
        """Judge a verdict, or have the check run again."""
        life.held = None
        first = life.first_run
        agrees = first is None or agree(first, verdict)
        life.runs += 1
        if agrees and life.runs < self._runs_needed(life, check, verdict):
            life.first_run = verdict
            life.advance(Signal.AGAIN)
            return []
        if first is not None and first.findings and verdict.findings:
            verdict = replace(verdict, findings=in_both(first, verdict) or verdict.findings)
        life.first_run, life.runs = None, 0
        judged = judge(verdict, self._baseline.get(check))
        if first is not None and not agrees:
            judged = flaky(first, verdict)
            self.flaky.add(check)
        life.judgements.append(judged)
        told: list[Effect] = [Checked(life.number, judged)]
        if not judged.standing.passes:
            return [*told, self._end(life, Signal.RED, judged.why), *self._share(life)]
        if len(life.judgements) < len(self.checks):
            life.advance(Signal.NEXT)
            return told
        why = next((each.why for each in life.judgements if each.standing is Standing.AS_BEFORE), "")
        return [*told, self._end(life, Signal.GREEN, why), *self._share(life)]

    def _runs_needed(self, life: AttemptLife, check: int, verdict: Verdict) -> int:
        """How many runs must say the same before the verdict counts."""
        if self.checks[check].kind not in RUN_AGAIN or verdict.status is Status.UNCLEAR:
            return 1
        others = [
            other.judgements[check].verdict
            for other in self.lives.values()
            if other is not life and len(other.judgements) > check
        ]
        before = [self._baseline[check]] if check in self._baseline else []
        if verdict.status is Status.RED:
            return 2 if check in self.flaky or contradicted(verdict, [*others, *before]) else 1
        wrong = sum(other.status is Status.RED for other in others)
        if not wrong and not any(each.status is Status.RED for each in before) and check not in self.flaky:
            return 1
        return next(runs for runs in count(2) if (wrong + 1) * FLAKE**runs <= MOST_WRONG)

    # -- ends ----------------------------------------------------------------------------------

    def _end(self, life: AttemptLife, signal: Signal, why: str) -> Ended:
        life.advance(signal)
        life.why = life.why or why
        return Ended(life.number, life.state, life.why)

    def _share(self, twin: AttemptLife) -> list[Effect]:
        """End the attempts that do the same as ``twin``, as it ended."""
        signal = {State.GREEN: Signal.GREEN, State.WON: Signal.GREEN, State.RED: Signal.RED}.get(
            twin.state, Signal.CUT
        )
        same = [life for life in self.lives.values() if life.same_as == twin.number and life.live]
        return [self._end(life, signal, "") for life in same]

    def _cut_all(self, lives: Sequence[AttemptLife], why: str) -> list[Effect]:
        if self.over:
            return []
        return [*(each for life in lives for each in self._cut(life, why)), *self._next()]

    def _cut(self, life: AttemptLife, why: str) -> list[Effect]:
        self._running = {each for each in self._running if each.attempt != life.number}
        self._overtime = {each for each in self._overtime if each.attempt != life.number}
        return [Cut(life.number), self._end(life, Signal.CUT, why)]

    # -- what follows --------------------------------------------------------------------------

    def _next(self) -> list[Effect]:
        """Decide, or start the checks that can run now."""
        if self.over:
            return []
        greens = [life for life in self.lives.values() if self.all_green(life) and not life.same_as]
        if greens and not self._judge_all:
            return self._decide(min(greens, key=_among_green))
        if not any(life.live for life in self.lives.values()):
            able = [life for life in self.order() if life.state is State.GREEN and self._may_win(life)]
            return self._decide(min(able, key=_among_green, default=None))
        effects: list[Effect] = []
        for run in self._ready():
            if len(self._running) >= self._slots:
                break
            if run.attempt != BASELINE:
                self.lives[run.attempt].advance(Signal.CHECK)
            effects += self._start(run)
        return effects

    def _ready(self) -> list[RunCheck]:
        """The checks that can run now, in the order in which they should."""
        baseline = [
            RunCheck(BASELINE, check) for check in range(len(self.checks)) if check not in self._asked
        ]
        waiting = [life for life in self.lives.values() if life.state is State.WAITING]
        waiting.sort(
            key=lambda life: (
                life.first_run is None,
                len(life.judgements),
                life.result.lines,
                life.number,
            )
        )
        return [*baseline, *(RunCheck(life.number, len(life.judgements)) for life in waiting)]

    def _start(self, run: RunCheck) -> list[Effect]:
        self._running.add(run)
        if run.attempt == BASELINE:
            self._asked.add(run.check)
        return [run]

    def _decide(self, winner: AttemptLife | None) -> list[Effect]:
        effects: list[Effect] = []
        if winner is None:
            best = next(iter(self.order()), None)
            self.decision = Decided(0, best.number if best else 0, self._why_nobody())
            return [self.decision]
        for life in self.lives.values():
            if life.live:
                effects += self._cut(life, f"attempt {winner.number} won")
        why = winner.why
        winner.advance(Signal.WIN)
        self.decision = Decided(winner.number, winner.number, why)
        # Losers are cut before anything is told: each token after the verdict is paid for nothing.
        cuts = [each for each in effects if isinstance(each, Cut)]
        told = [each for each in effects if not isinstance(each, Cut)]
        return [*cuts, *told, Ended(winner.number, State.WON, why), self.decision]

    def _may_win(self, life: AttemptLife) -> bool:
        """Whether ``life``, with which some checks are as red as before, may land by itself."""
        some_green = any(each.standing is Standing.GREEN for each in life.judgements)
        return some_green or any(each.mended for each in life.judgements)

    def _rank(self, life: AttemptLife) -> tuple[int, int, int, int, int]:
        passed = sum(each.standing.passes for each in life.judgements)
        failures = sum(each.failures for each in life.judgements)
        same = sum(other.same_as == life.number for other in self.lives.values())
        return -passed, failures, -same, life.result.lines, life.number

    def _is_twin(self, other: AttemptLife, life: AttemptLife) -> bool:
        whole = other is not life and other.state not in (State.STREAMING, State.FAILED, State.CUT)
        return whole and not other.same_as and other.result.key == life.result.key

    def _why_nobody(self) -> str:
        count = len(self.lives)
        if not any(life.result.key for life in self.lives.values()):
            reasons = [life.why for life in self.lives.values() if life.why]
            return (
                f"{reasons[0]} (all {count} attempts)"
                if len(set(reasons)) == 1
                else f"none of {count} attempts changed anything"
            )
        limit = f" ({self._limit})" if self._limit else ""
        if any(life.state is State.GREEN for life in self.lives.values()):
            return f"all checks were red before, and no attempt mended anything{limit}"
        return f"none of {count} attempts passed the checks{limit}"


def _among_green(life: AttemptLife) -> tuple[int, int, int, int]:
    """The order of attempts that may win: what is still red, then the fewest changed lines."""
    green = sum(each.standing is Standing.GREEN for each in life.judgements)
    left = sum(each.left for each in life.judgements)
    return -green, left, life.result.lines, life.number
