"""Every order of what can happen in a race: answers, verdicts, failures, limits and the stop key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.race.attempt_life import LIVE, AttemptLife, Result, Standing, State
from session.race.race_rules import (
    BASELINE,
    MOST_BEFORE,
    MOST_RUNS,
    Again,
    Checked,
    Cut,
    Decided,
    Effect,
    Ended,
    Race,
    RunCheck,
)
from tests.thorough import share

CHECKS = (Check("lint", "lint", Kind.LINT), Check("tests", "tests", Kind.TESTS))
FINDINGS = (Finding("a.py", 1, "old"), Finding("a.py", 2, "new"))
NUMBERS = st.integers(1, 5)


class Shell:
    """Plays a shell: carries out the effects, and checks what must hold after each of them."""

    def __init__(self, attempts: int, checks: int, slots: int, *, judge_all: bool, rounds: int = 0) -> None:
        self.race = Race(
            attempts, CHECKS[:checks], slots=slots, judge_all=judge_all, rounds=rounds, goals=rounds > 1
        )
        self.rounds = rounds
        self.again: Counter[int] = Counter()
        self.slots = slots
        self.judge_all = judge_all
        self.running: list[RunCheck] = []
        self.runs: Counter[RunCheck] = Counter()
        self.ends: dict[int, Ended] = {}
        self.decisions: list[Decided] = []
        self.cut: set[int] = set()
        self.judged: set[int] = set()
        """The checks that have said something of the project."""
        self.told: dict[tuple[int, int], list[Checked]] = {}
        """What was told of each answer of each attempt."""
        self.take(self.race.begin())

    def take(self, effects: list[Effect]) -> None:
        assert not (effects and self.decisions), "nothing follows once it is decided"
        for number, life in self.race.lives.items():
            if life.live and number in self.ends:  # tests that it failed turned out to be flaky
                assert self.ends.pop(number).state is State.RED and self.race.flaky
                self.told[number, life.answer].pop()
        for effect in effects:
            match effect:
                case Again(attempt=attempt, judgements=judgements):
                    self.again[attempt] += 1
                    assert self.again[attempt] <= self.rounds and attempt not in self.ends and judgements
                    assert all(each.standing is not Standing.GREEN for each in judgements)
                case RunCheck(attempt=attempt, check=check):
                    self.runs[effect] += 1
                    assert self.runs[effect] <= max(MOST_BEFORE, MOST_RUNS * (1 + self.rounds))
                    if attempt != BASELINE:
                        assert len(self.race.lives[attempt].judgements) == check
                    self.running.append(effect)
                case Cut(attempt=attempt):
                    assert attempt not in self.ends
                    self.cut.add(attempt)
                    self.running = [each for each in self.running if each.attempt != attempt]
                case Checked(attempt=attempt, answer=number, judgement=judgement):
                    check = self.race.checks.index(judgement.verdict.check)
                    assert judgement.verdict.status is not Status.RED or check in self.judged, "it waits"
                    self.told.setdefault((attempt, number), []).append(effect)
                case Ended(attempt=attempt, state=state):
                    assert attempt not in self.ends or (
                        state is State.WON and self.ends[attempt].state is State.GREEN
                    )
                    self.ends[attempt] = effect
                case Decided():
                    self.decisions.append(effect)

    def verdict(self, run: RunCheck, status: Status, findings: Sequence[Finding], *, ran: bool) -> None:
        """A running check says this."""
        self.running.remove(run)
        self.judged |= {run.check} if run.attempt == BASELINE else set()
        verdict = Verdict(self.race.checks[run.check], status, 0.1, tuple(findings), "why", ran=ran)
        self.take(self.race.checked(run.attempt, run.check, verdict))
        assert ran or run.attempt != BASELINE or self.decisions, "a check that cannot run judges nothing"

    def answer(self, attempt: int, key: str, lines: int) -> None:
        self.take(self.race.answered(attempt, Result(key, lines)))

    def fault(self, attempt: int) -> None:
        self.take(self.race.failed(attempt, "the link was lost"))

    def limit(self, kind: str) -> None:
        race = self.race
        stop = {"tokens": race.stop_streaming, "time": race.stop, "key": race.abandon}[kind]
        self.take(stop(kind))

    def holds(self) -> None:
        """Check what holds between any two things that happen."""
        assert len(self.running) <= self.slots
        self.what_is_decided_is_whole()
        assert self.judge_all or self.decisions or not self.green()

    def what_is_decided_is_whole(self) -> None:
        lives = self.race.lives
        for number, life in lives.items():
            assert (number in self.ends) == (life.state not in LIVE)
            assert life.state is not State.CUT or life.same_as or number in self.cut, "its link is cut"
        if not self.decisions:
            assert any(life.live for life in lives.values()), "a race without live attempts is decided"
            waiting = any(life.state in (State.WAITING, State.HELD) for life in lives.values())
            assert self.running or not waiting, "what waits has something to wait for"
            streaming = any(life.state is State.STREAMING for life in lives.values())
            assert self.running or streaming, "something can still happen"
            return
        (decided,) = self.decisions
        assert not any(life.live for life in lives.values())
        won = [number for number, life in lives.items() if life.state is State.WON]
        assert won == ([decided.winner] if decided.winner else [])
        if decided.winner:
            judged = lives[decided.winner].judgements
            assert len(judged) == len(self.race.checks)
            assert all(each.standing.passes for each in judged)
            assert any(each.standing is Standing.GREEN or each.mended for each in judged)
            life = lives[decided.winner]
            told = self.told.get((decided.winner, life.answer), [])
            assert life.same_as or [each.judgement for each in told] == judged
            assert all(life.result.key != each.result.key for each in life.past)
        elif decided.best:
            assert lives[decided.best].result.key

    def green(self) -> list[AttemptLife]:
        """The attempts that wait for nothing and for no other."""
        return [
            life
            for life in self.race.lives.values()
            if life.state is State.GREEN
            and not life.same_as
            and all(each.standing is Standing.GREEN for each in life.judgements)
        ]


class Races(RuleBasedStateMachine):
    """Races of up to five attempts and two checks, in orders that chance draws."""

    @initialize(
        attempts=NUMBERS,
        checks=st.integers(1, 2),
        slots=st.integers(1, 3),
        judge_all=st.booleans(),
        rounds=st.integers(0, 2),
    )
    def begin(self, attempts: int, checks: int, slots: int, judge_all: bool, rounds: int) -> None:
        self.shell = Shell(attempts, checks, slots, judge_all=judge_all, rounds=rounds)

    @precondition(lambda self: self.shell.running)
    @rule(data=st.data(), status=st.sampled_from(Status), found=st.integers(0, 2), ran=st.booleans())
    def verdict(self, data: st.DataObject, status: Status, found: int, ran: bool) -> None:
        run = data.draw(st.sampled_from(self.shell.running))
        findings = FINDINGS[:found] if status is Status.RED else ()
        self.shell.verdict(run, status, findings, ran=ran or status is not Status.UNCLEAR)

    @rule(attempt=NUMBERS, key=st.sampled_from(["", "a", "b", "c"]), lines=st.integers(1, 3))
    def answer(self, attempt: int, key: str, lines: int) -> None:
        if attempt in self.shell.race.lives:
            self.shell.answer(attempt, key, lines)

    @rule(attempt=NUMBERS)
    def fault(self, attempt: int) -> None:
        if attempt in self.shell.race.lives:
            self.shell.fault(attempt)

    @rule(kind=st.sampled_from(["tokens", "time", "key"]))
    def limit(self, kind: str) -> None:
        self.shell.limit(kind)

    @invariant()
    def all_holds(self) -> None:
        self.shell.holds()


Races.TestCase.settings = settings(
    max_examples=share(400, 40),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestRaces = Races.TestCase

SAID = (
    (Status.GREEN, (), True),
    (Status.RED, FINDINGS[:1], True),
    (Status.RED, FINDINGS, True),
    (Status.UNCLEAR, (), False),
)
"""What a check may say: it is green, red as it was or in one line more, or it cannot be run."""
Step = Callable[[Shell], object]
STOPS: tuple[Step, ...] = tuple(partial(Shell.limit, kind=kind) for kind in ("tokens", "time", "key"))


def steps(shell: Shell) -> Iterator[Step]:
    """All that can happen next."""
    for run in shell.running:
        for status, findings, ran in SAID:
            yield partial(Shell.verdict, run=run, status=status, findings=findings, ran=ran)
    for number, life in shell.race.lives.items():
        if life.state is State.STREAMING:
            yield partial(Shell.fault, attempt=number)
            for key in ("", "a", "b"):
                yield partial(Shell.answer, attempt=number, key=key, lines=number)


def where(shell: Shell) -> str:
    """All that what follows depends on: races that came here in different orders go on alike."""
    race = shell.race
    lives = list(race.lives.values())
    return repr((lives, race._baseline, sorted(race.flaky), shell.running, race.decision, shell.ends))


@pytest.mark.parametrize(
    ("attempts", "checks", "slots", "judge_all"),
    [(2, 1, 1, False), (2, 1, 2, False), (2, 1, 2, True), (1, 2, 1, False), (1, 2, 2, False)],
)
def test_every_order_of_a_small_race(attempts: int, checks: int, slots: int, judge_all: bool) -> None:
    """Each order to its end, with each verdict and answer; at each place every limit is reached once."""

    def played(path: Sequence[Step]) -> Shell:
        shell = Shell(attempts, checks, slots, judge_all=judge_all)
        for step in path:
            step(shell)
        shell.holds()
        return shell

    open_races: list[tuple[Step, ...]] = [()]
    seen, decisions = set[str](), set[str]()
    while open_races:
        path = open_races.pop()
        for stop in STOPS:
            assert played((*path, stop)).decisions or stop is STOPS[0], "it ends at once"
        for step in steps(played(path)):
            after = played((*path, step))
            if (place := where(after)) in seen:
                continue
            seen.add(place)
            if after.decisions:
                decisions.add("won" if after.decisions[0].winner else "lost")
            else:
                open_races.append((*path, step))
    assert decisions == {"won", "lost"}, "each of them ends"
