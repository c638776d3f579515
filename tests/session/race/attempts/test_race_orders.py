"""Every order of what can happen in a race: answers, verdicts, failures, limits and the stop key."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.race.attempt_life import LIVE, Result, State
from session.race.judgement import Standing
from session.race.race import BASELINE, Checked, Cut, Decided, Effect, Ended, Race, RunCheck

CHECKS = (Check("lint", "lint", Kind.LINT), Check("tests", "tests", Kind.TESTS))
FINDINGS = (Finding("a.py", 1, "old"), Finding("a.py", 2, "new"))
NUMBERS = st.integers(1, 5)


class Races(RuleBasedStateMachine):
    """Plays a shell: carries out the effects, and checks what must hold after each of them."""

    @initialize(attempts=NUMBERS, checks=st.integers(1, 2), slots=st.integers(1, 3), judge_all=st.booleans())
    def begin(self, attempts: int, checks: int, slots: int, judge_all: bool) -> None:
        self.race = Race(attempts, CHECKS[:checks], slots=slots, judge_all=judge_all)
        self.slots = slots
        self.judge_all = judge_all
        self.running: list[RunCheck] = []
        self.runs: Counter[RunCheck] = Counter()
        self.ends: dict[int, Ended] = {}
        self.decisions: list[Decided] = []
        self.told: dict[int, list[Checked]] = {}
        self.take(self.race.begin())

    def take(self, effects: list[Effect]) -> None:
        assert not (effects and self.decisions), "nothing follows once it is decided"
        for effect in effects:
            match effect:
                case RunCheck(attempt=attempt, check=check):
                    self.runs[effect] += 1
                    assert self.runs[effect] <= 2 and (attempt != BASELINE or self.runs[effect] == 1)
                    if attempt != BASELINE:
                        assert len(self.race.lives[attempt].judgements) == check
                    self.running.append(effect)
                case Cut(attempt=attempt):
                    assert attempt not in self.ends
                    self.running = [each for each in self.running if each.attempt != attempt]
                case Checked(attempt=attempt):
                    self.told.setdefault(attempt, []).append(effect)
                case Ended(attempt=attempt, state=state):
                    assert attempt not in self.ends or (
                        state is State.WON and self.ends[attempt].state is State.GREEN
                    )
                    self.ends[attempt] = effect
                case Decided():
                    self.decisions.append(effect)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), status=st.sampled_from(Status), found=st.integers(0, 2), ran=st.booleans())
    def verdict(self, data: st.DataObject, status: Status, found: int, ran: bool) -> None:
        run = data.draw(st.sampled_from(self.running))
        self.running.remove(run)
        findings = FINDINGS[:found] if status is Status.RED else ()
        ran = ran or status is not Status.UNCLEAR
        verdict = Verdict(self.race.checks[run.check], status, 0.1, findings, "why", ran=ran)
        self.take(self.race.checked(run.attempt, run.check, verdict))

    @rule(attempt=NUMBERS, key=st.sampled_from(["", "a", "b", "c"]), lines=st.integers(1, 3))
    def answer(self, attempt: int, key: str, lines: int) -> None:
        if attempt in self.race.lives:
            self.take(self.race.answered(attempt, Result(key, lines)))

    @rule(attempt=NUMBERS)
    def fault(self, attempt: int) -> None:
        if attempt in self.race.lives:
            self.take(self.race.failed(attempt, "the link was lost"))

    @rule(kind=st.sampled_from(["tokens", "time", "key"]))
    def limit(self, kind: str) -> None:
        race = self.race
        stop = {"tokens": race.stop_streaming, "time": race.stop, "key": race.abandon}[kind]
        self.take(stop(kind))

    @invariant()
    def checks_keep_to_their_slots(self) -> None:
        assert len(self.running) <= self.slots

    @invariant()
    def what_is_decided_is_whole(self) -> None:
        lives = self.race.lives
        for number, life in lives.items():
            assert (number in self.ends) == (life.state not in LIVE)
        if not self.decisions:
            assert any(life.live for life in lives.values()), "a race without live attempts is decided"
            waiting = any(life.state in (State.WAITING, State.HELD) for life in lives.values())
            assert self.running or not waiting, "what waits has something to wait for"
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
            assert [each.judgement for each in self.told[decided.winner]] == judged
        elif decided.best:
            assert lives[decided.best].result.key

    @invariant()
    def no_green_attempt_waits_for_others(self) -> None:
        green = [
            life
            for life in self.race.lives.values()
            if life.state is State.GREEN and all(each.standing is Standing.GREEN for each in life.judgements)
        ]
        assert not any(not life.same_as for life in green) or self.decisions or self.judge_all


Races.TestCase.settings = settings(
    max_examples=400, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestRaces = Races.TestCase
