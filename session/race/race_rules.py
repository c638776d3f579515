"""A race: several attempts at one prompt, judged by checks as they come. No I/O.

Each method takes one thing that happened and returns the effects that follow from it, in order; the shell
carries them out and reports back what checks say. Checks run cheapest first, at most ``slots`` at a time,
those on the untouched project (the *baseline*) before all others.

The first attempt with which all checks are green wins at once, and the others are cut. Where checks were red
before, an attempt that leaves them as they were can win too, once all have been judged; but not where all
checks were red and it mended nothing. A verdict of tests that others contradict is run again before it
counts, a green one more often where many attempts are red: one of them is green by chance sooner. Where runs
differ, the tests that come and go are looked for in other runs (``evidence.py``), for which the baseline runs
again; what is told apart so is held against nobody, and on anything else that differs nothing lands. Among
equals the one with the fewest changed lines wins. Without a winner, the best is offered: the most checks
passed, the fewest tests that failed in every run, the most attempts that agree, the fewest lines.

A red attempt answers again, up to ``rounds`` times, as long as there is something new to tell it. It ends
with the best of its answers where the last ones are worse, change nothing or do not come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from session.checks.check import Check
from session.checks.finding import Status, Verdict, before_edits, new_findings
from session.race.attempt_life import (
    RUN_AGAIN,
    Answer,
    AttemptLife,
    Judgement,
    Result,
    Signal,
    Standing,
    State,
    judge,
)
from session.race.evidence import (
    agree,
    contradicted,
    excused,
    flaky,
    in_all,
    places,
    told_apart,
)

BASELINE = 0
"""Stands for the untouched project where an attempt's number is expected."""
FLAKE = 0.05
"""The share of runs in which a flaky check is taken to say the wrong thing."""
MOST_WRONG = 0.01
"""The greatest chance with which one of several wrong attempts may be green in all its runs."""
MOST_RUNS, MOST_BEFORE = 6, 8
"""The most runs of a check on one answer, and on the baseline, while they differ."""
RUNS_TO_LOSE = 4
"""The runs by which the best attempt of a lost race must have failed tests that others passed."""
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
    """Tell what a check said of an answer of an attempt."""

    attempt: int
    answer: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Again:
    """Have the attempt answer again: it is told what the checks said, those of ``judgements`` that count."""

    attempt: int
    answer: int
    """The number of the answer that is asked for."""
    judgements: tuple[Judgement, ...]


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


Effect = RunCheck | Cut | Checked | Again | Ended | Decided


class Race:
    """A race of ``attempts`` attempts, judged by ``checks``, which are given cheapest first.

    With ``judge_all`` no attempt is cut for a green one: all are judged, and the best green one wins. With
    ``goals`` the checks are to become green: an attempt that leaves one red as before answers again too.
    """

    def __init__(
        self,
        attempts: int,
        checks: Sequence[Check],
        *,
        slots: int,
        judge_all: bool = False,
        rounds: int = 0,
        goals: bool = False,
    ) -> None:
        self._rounds = rounds
        self._goals = goals
        self.lives = {number: AttemptLife(number) for number in range(1, attempts + 1)}
        self.checks = tuple(checks)
        self._slots = slots
        self._judge_all = judge_all
        self._baseline: dict[int, Verdict] = {}
        self._running: set[RunCheck] = set()
        self._overtime: set[RunCheck] = set()
        """The runs that take much longer than before any change: they hold no slot."""
        self._runs: dict[tuple[int, str], list[Verdict]] = {}
        """All runs of a check on the same files, by what an answer makes of these; empty for the baseline."""
        self._known: dict[str, tuple[int, Answer]] = {}
        """The answers that were judged, by what they do, with the attempt of each."""
        self.flaky: set[int] = set()
        """The checks that said two things of the same files; each later verdict of theirs is run again."""
        self._limit = ""
        """The limit that was reached, if one was."""
        self._stopped = False
        """Whether no more checks are to run."""
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
        if not result.key or result.key in (each.result.key for each in life.past):
            what = f"answer {life.answer}" if life.past else "it"
            return self.failed(attempt, "; ".join(filter(None, (f"{what} changed nothing", refusals))))
        life.result = result
        twin = next((each for each in self.lives.values() if self._is_twin(each, life)), None)
        known = self._known.get(result.key)
        if twin is None and known is None:
            life.advance(Signal.ANSWERED)
            return self._next()
        life.advance(Signal.SAME)
        life.same_as = twin.number if twin is not None else known[0] if known is not None else 0
        if known is None or twin is not None:
            return self._next()
        life.judgements = list(known[1].judgements)
        return [*self._judged(life, known[1].state, known[1].why), *self._next()]

    def failed(self, attempt: int, why: str) -> list[Effect]:
        """An attempt has no answer that could be judged, or no more of them."""
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
        if life.state is not State.CHECKING:
            return self._next()
        self._runs.setdefault((check, life.result.key), []).append(verdict)
        return [*self._weigh(life, check), *self._next()]

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
        self._limit, self._stopped = self._limit or why, True
        return self._cut_all([life for life in self.lives.values() if life.live], why)

    def abandon(self, why: str) -> list[Effect]:
        """End the race now, without a winner and without an offer."""
        if self.over:
            return []
        live = [life for life in self.lives.values() if life.live]
        ends: list[Effect] = [each for life in live for each in self._cut(life, why, lost=True)]
        self.decision = Decided(0, 0, why)
        return [*ends, self.decision]

    def order(self) -> list[AttemptLife]:
        """The attempts that changed something, the best first, and of those that do the same one."""
        judged = [life for life in self.lives.values() if life.result.key]
        first: dict[str, AttemptLife] = {}
        for life in sorted(judged, key=lambda life: (bool(life.same_as), life.number)):
            first.setdefault(life.result.key, life)
        return sorted(first.values(), key=self._rank)

    def all_green(self, life: AttemptLife) -> bool:
        """Whether every check is green with ``life``, and none only as red as before."""
        passed = life.state in (State.GREEN, State.WON)
        return passed and all(each.standing is Standing.GREEN for each in life.judgements)

    # -- verdicts ------------------------------------------------------------------------------

    def _baseline_ran(self, check: int, verdict: Verdict) -> list[Effect]:
        self._runs.setdefault((check, ""), []).append(verdict)
        self._baseline.setdefault(check, verdict)
        if not verdict.ran:
            return self.abandon(f"{self.checks[check].name} judges nothing: {verdict.why}")
        effects: list[Effect] = []
        for life in self.lives.values():
            if life.state is State.HELD and len(life.judgements) == check:
                effects += self._weigh(life, check)
        return effects

    def _weigh(self, life: AttemptLife, check: int) -> list[Effect]:
        """Judge what a check said of an answer, or have it run again, on that or on the baseline."""
        runs = self._runs[check, life.result.key]
        verdict, before = runs[-1], self._baseline.get(check)
        if before is None and verdict.status is Status.RED:
            life.advance(Signal.HOLD)
            return []
        ran_before = self._runs.get((check, ""), [])
        apart = told_apart(ran_before)
        steady, more = agree(runs), len(runs) < MOST_RUNS
        if not steady:
            self.flaky.add(check)
        if any(each.status is Status.UNCLEAR for each in runs):
            return self._take(life, judge(verdict, before) if steady else flaky(runs))
        if steady and len(runs) >= self._runs_needed(life, check, verdict):
            if verdict.status is Status.RED:
                verdict = replace(verdict, findings=in_all(runs) or verdict.findings)
            judged = judge(verdict, before)
            doubted = judged.standing is Standing.RED and bool(verdict.findings)
            again = doubted and places([verdict]) <= apart
        else:
            judged = excused(runs, ran_before) or flaky(runs)
            again = steady or (places(runs) <= apart and judged.standing is Standing.UNCLEAR)
            if not steady and not places(runs) <= apart and places(runs) and self._may_look_again(check):
                life.advance(Signal.HOLD)  # the baseline is run again
                return []
        if again and more:
            life.advance(Signal.AGAIN)
            return []
        return self._take(life, judged)

    def _take(self, life: AttemptLife, judged: Judgement) -> list[Effect]:
        life.judgements.append(judged)
        told: list[Effect] = [Checked(life.number, life.answer, judged)]
        if not judged.standing.passes:
            return [*told, *self._judged(life, State.RED, judged.why)]
        if len(life.judgements) < len(self.checks):
            life.advance(Signal.NEXT)
            return told
        why = next((each.why for each in life.judgements if each.why), "")
        return [*told, *self._judged(life, State.GREEN, why)]

    def _may_look_again(self, check: int) -> bool:
        """Whether the baseline can be run again."""
        return 0 < len(self._runs.get((check, ""), [])) < MOST_BEFORE

    def _runs_needed(self, life: AttemptLife, check: int, verdict: Verdict) -> int:
        """How many runs must say the same before the verdict counts."""
        if self.checks[check].kind not in RUN_AGAIN or verdict.status is Status.UNCLEAR:
            return 1
        before = self._baseline.get(check)
        others = [
            runs[-1]
            for (about, key), runs in self._runs.items()
            if about == check and key not in ("", life.result.key)
        ]
        if verdict.status is Status.RED:
            known = before_edits(before, ()) if before is not None else None
            new = tuple(new_findings(verdict.findings, known)) if known is not None else verdict.findings
            against = replace(verdict, findings=new or verdict.findings)
            said = [*others, before] if before is not None else others
            return 2 if check in self.flaky or contradicted(against, said) else 1
        wrong = sum(other.status is Status.RED for other in others)
        red_before = before is not None and before.status is Status.RED
        if not wrong and not red_before and check not in self.flaky:
            return 1
        return next(runs for runs in count(2) if (wrong + 1) * FLAKE**runs <= MOST_WRONG)

    # -- ends ----------------------------------------------------------------------------------

    def _judged(self, life: AttemptLife, state: State, why: str) -> list[Effect]:
        """An answer is judged to its end: it answers again, or ends."""
        judged = Answer(life.answer, life.result, tuple(life.judgements), state, why)
        self._known[life.result.key] = life.same_as or life.number, judged
        told = self._told_again(life, judged)
        effects: list[Effect] = []
        if told:
            life.begin_again(judged)
            effects.append(Again(life.number, life.answer, told))
        else:
            effects.append(self._end(life, Signal.RED if state is State.RED else Signal.GREEN, why))
        for other in self.lives.values():
            if other.state is State.SAME and other.same_as == life.number:
                other.judgements = list(judged.judgements)
                effects += self._judged(other, state, why)
        return effects

    def _told_again(self, life: AttemptLife, judged: Answer) -> tuple[Judgement, ...]:
        """What an attempt is told to answer again; nothing where it is not asked to."""
        if life.asked > self._rounds or life.asked_enough or self._limit:
            return ()
        if judged.state is State.RED:
            last = judged.judgements[-1]
            told = [last] if last.standing is Standing.RED or last.verdict.hung else []
        elif self._goals or not self._may_win(life):
            told = [each for each in judged.judgements if each.verdict.status is Status.RED]
        else:
            told = []
        said = [{each.says for each in past.judgements} for past in life.past]
        return () if any({each.says for each in told} <= before for before in said) else tuple(told)

    def _end(self, life: AttemptLife, signal: Signal, why: str, *, lost: bool = False) -> Ended:
        """End an attempt with the best of its answers; one that has ``lost`` the race cannot win with it."""
        answers, number, life.asked_enough = list(life.past), life.answer, True
        if signal in (Signal.GREEN, Signal.RED):
            state = State.GREEN if signal is Signal.GREEN else State.RED
            answers.append(Answer(life.answer, life.result, tuple(life.judgements), state, why))
        if not answers:
            life.advance(signal)
            life.why = why or life.why
            return self._ended(life)
        best = min(answers, key=lambda each: each.rank)
        life.advance(Signal.CUT if lost else Signal.RED if best.state is State.RED else Signal.GREEN)
        life.keep(best)
        life.past = [each for each in answers if each is not best]
        if lost:
            life.why = why
        elif signal in (Signal.FAIL, Signal.CUT):
            life.why = "; ".join(filter(None, (best.why, why)))
        elif best.number != number:
            life.why = "; ".join(filter(None, (best.why, f"answer {number} was no better")))
        return self._ended(life)

    def _ended(self, life: AttemptLife) -> Ended:
        if life.same_as:
            same = f"the same as attempt {life.same_as}"
            life.why = life.why if life.state is State.CUT else same
        return Ended(life.number, life.state, life.why)

    def _cut_all(self, lives: Sequence[AttemptLife], why: str) -> list[Effect]:
        if self.over:
            return []
        return [*(each for life in lives for each in self._cut(life, why)), *self._next()]

    def _cut(self, life: AttemptLife, why: str, *, lost: bool = False) -> list[Effect]:
        self._running = {each for each in self._running if each.attempt != life.number}
        self._overtime = {each for each in self._overtime if each.attempt != life.number}
        return [Cut(life.number), self._end(life, Signal.CUT, why, lost=lost)]

    # -- what follows --------------------------------------------------------------------------

    def _next(self) -> list[Effect]:
        """Decide, or start the checks that can run now."""
        if self.over:
            return []
        greens = [life for life in self.order() if self.all_green(life)]
        if greens and not self._judge_all:
            return self._decide(min(greens, key=_among_green))
        over = not any(life.live for life in self.lives.values())
        if over and (greens or self._stopped or not self._reopen()):
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

    def _reopen(self) -> bool:
        """Before the race is lost, judge those anew that failed only by tests that fail in some runs, or may
        do so: the best, where the tests that it failed pass with others."""
        red = [life for life in self.order() if life.state is State.RED]
        for at, life in enumerate(red):
            check, last = len(life.judgements) - 1, life.judgements[-1]
            found, ran = places([last.verdict]), len(self._runs[check, life.result.key])
            if last.standing is not Standing.RED or not found or self.checks[check].kind not in RUN_AGAIN:
                continue
            others = [runs for (about, _), runs in self._runs.items() if about == check]
            passed = any(not found & places([run]) for runs in others for run in runs)
            apart = found <= told_apart(self._runs.get((check, ""), []))
            if (apart and ran < MOST_RUNS) or (not at and passed and ran < RUNS_TO_LOSE):
                life.judgements.pop()
                life.why = ""
                life.advance(Signal.REOPEN)
        return any(life.live for life in self.lives.values())

    def _ready(self) -> list[RunCheck]:
        """The checks that can run now, in the order in which they should."""
        baseline = [RunCheck(BASELINE, check) for check in range(len(self.checks)) if self._wants(check)]
        waiting = [life for life in self.lives.values() if life.state is State.WAITING]
        waiting.sort(
            key=lambda life: (
                (len(life.judgements), life.result.key) not in self._runs,
                len(life.judgements),
                life.result.lines,
                life.number,
            )
        )
        return [*baseline, *(RunCheck(life.number, len(life.judgements)) for life in waiting)]

    def _wants(self, check: int) -> bool:
        """Whether the baseline is to run, for the first time or since attempts wait for it."""
        if RunCheck(BASELINE, check) in self._running | self._overtime:
            return False
        ran = len(self._runs.get((check, ""), []))
        held = any(life.state is State.HELD and len(life.judgements) == check for life in self.lives.values())
        return not ran or (held and ran < MOST_BEFORE)

    def _start(self, run: RunCheck) -> list[Effect]:
        self._running.add(run)
        return [run]

    def _decide(self, winner: AttemptLife | None) -> list[Effect]:
        effects: list[Effect] = []
        if winner is None:
            best = next(iter(self.order()), None)
            self.decision = Decided(0, best.number if best else 0, self._why_nobody())
            return [self.decision]
        for life in self.lives.values():
            if life.live:
                effects += self._cut(life, f"attempt {winner.number} won", lost=True)
        why = winner.why
        winner.advance(Signal.WIN)
        self.decision = Decided(winner.number, winner.number, why)
        # Losers are cut before anything is told: each token after the verdict is paid for nothing.
        cuts = [each for each in effects if isinstance(each, Cut)]
        told = [each for each in effects if not isinstance(each, Cut)]
        return [*cuts, *told, Ended(winner.number, State.WON, why), self.decision]

    def _may_win(self, life: AttemptLife) -> bool:
        """Whether ``life``, with which some checks are as red as before, may land by itself."""
        some_green = any(
            each.standing is Standing.GREEN or (each.verdict.status is Status.GREEN and not self._goals)
            for each in life.judgements
        )
        return some_green or any(each.mended for each in life.judgements)

    def _rank(self, life: AttemptLife) -> tuple[int, int, int, int, int]:
        passed = sum(each.standing.passes for each in life.judgements)
        failures = sum(each.failures for each in life.judgements)
        same = sum(other is not life and other.result.key == life.result.key for other in self.lives.values())
        return -passed, failures, -same, life.result.lines, life.number

    def _is_twin(self, other: AttemptLife, life: AttemptLife) -> bool:
        judged = other.state in (State.WAITING, State.CHECKING, State.HELD)
        return judged and other is not life and other.result.key == life.result.key

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
