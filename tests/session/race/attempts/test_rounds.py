"""A red attempt answers again: what it is told, what it sees, what counts of it, and where that ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from session.base.events import (
    AttemptAgain,
    AttemptChecked,
    AttemptEnded,
    RaceEnded,
    RaceStarted,
    TurnEnded,
)
from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.race.attempt_life import Result, State
from session.race.race_rules import BASELINE, Again, Effect, Ended, Race, RunCheck
from session.setup.user_tables import AttemptSettings
from tests.session.race.attempts.races import (
    ADD,
    ALSO_WRONG,
    BROKEN,
    RIGHT,
    SYNTAX,
    TESTS,
    WRONG,
    project,
    script,
)
from tests.session.talking import Listening, talking

CHECK = Check("tests", "pytest", Kind.TESTS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


def then(*steps: tuple[str, str]) -> str:
    """What the partner answers to what the checks printed: each old line becomes the new one, once."""
    parts = []
    for number, (old, new) in enumerate(steps, 1):
        parts.append(
            f'\n[[scenario]]\nid = "again{number}"\nmatch = ["These checks fail"]\ntimes = 1\n'
            f'[[scenario.hunk]]\nid = "fix"\npath = "calc.py"\nlines = """\n'
            f' def add(a, b):\n-    {old}\n+    {new}\n"""\n'
            '[[scenario.step]]\nsay = "Once more.\\n"\n[[scenario.step]]\npatch = ["fix"]\n'
        )
    return "\n".join(parts)


async def raced(it: Listening, attempts: int = 1, **more: object) -> RaceEnded:
    await it.session.race.start("mend add", attempts, [SYNTAX, TESTS], **more)  # type: ignore[arg-type] # a few kinds
    await it.ended("t1")
    return it.all(RaceEnded)[-1]


async def test_a_red_attempt_is_told_what_its_check_printed_and_mends_it(root: Path) -> None:
    async with talking(root, script(WRONG) + then((WRONG, RIGHT))) as it:
        race = await raced(it)
        assert race.winner == 1 and race.again == 1
        assert it.text("calc.py") == ADD.replace("return a - b", RIGHT)
        told = it.sent(-2)
        assert "AssertionError: 6" in told and "These checks fail" in told
        again = it.all(AttemptAgain)
        assert [(each.attempt, each.answer, each.check) for each in again] == [(1, 2, "tests")]
        assert [(each.answer, each.status) for each in it.all(AttemptChecked)] == [
            (1, "green"),
            (1, "red"),
            (2, "green"),
            (2, "green"),
        ]
        ended = it.all(AttemptEnded)[-1]
        assert (ended.status, ended.answer, ended.answers) == ("won", 2, 2)
        it.session.submit("what did you do")
        await it.ended("t2")
        assert "Once more." in it.sent(), "the conversation goes on from all that the winner said"


async def test_the_estimate_says_what_another_answer_takes_and_the_sum_has_it(root: Path) -> None:
    async with talking(root, script(WRONG) + then((WRONG, RIGHT))) as it:
        race = await raced(it)
        (started,) = it.all(RaceStarted)
        assert started.rounds == 2 and "tokens" in started.round_estimate
        (again,) = it.all(AttemptAgain)
        assert race.tokens > again.tokens > started.input_tokens


async def test_an_answer_that_got_worse_does_not_count(root: Path) -> None:
    worse = then((WRONG, BROKEN))
    async with talking(root, script(WRONG) + worse) as it:
        race = await raced(it, rounds=1)
        assert race.winner is None and race.best == 1 and race.again == 1
        assert (
            WRONG in it.session.race.diff(1) and f"+    {BROKEN}" not in it.session.race.diff(1).splitlines()
        )
        it.session.race.take(1)
        await it.ended("t2")
        assert it.text("calc.py") == ADD.replace("return a - b", WRONG)


async def test_an_answer_that_changes_nothing_ends_the_loop(root: Path) -> None:
    idle = '\n[[scenario]]\nid = "idle"\nmatch = ["These checks fail"]\n[[scenario.step]]\nsay = "Hm.\\n"\n'
    async with talking(root, script(WRONG) + idle) as it:
        await raced(it, rounds=9)
        (ended,) = it.all(AttemptEnded)
        assert ended.status == "red" and "answer 2 changed nothing" in ended.why
        assert (ended.answer, ended.answers) == (1, 2)


async def test_no_other_answer_is_asked_for_past_a_limit_or_where_none_is_wanted(root: Path) -> None:
    async with talking(root, script(WRONG, ALSO_WRONG) + then((WRONG, RIGHT))) as it:
        await raced(it, rounds=0)
        assert not it.all(AttemptAgain)
        likely = int("".join(filter(str.isdecimal, it.all(RaceStarted)[-1].estimate)))
    async with talking(root, script(WRONG) + then((WRONG, RIGHT))) as it:
        settings = it.session._opening.settings
        ample = AttemptSettings(tokens=likely + 1_000)
        it.session.race._opening = replace(it.session._opening, settings=replace(settings, attempts=ample))
        await raced(it)
        (ended,) = it.all(AttemptEnded)
        assert ended.status == "red" and "would pass the limit" in ended.why


async def test_the_stop_key_ends_an_answer_that_was_asked_for_again(root: Path) -> None:
    slow = then((WRONG, RIGHT)).replace('say = "Once', 'stall = 30.0\n[[scenario.step]]\nsay = "Once')
    async with talking(root, script(WRONG) + slow) as it:
        await it.session.race.start("mend add", 1, [TESTS])
        await it.until(AttemptAgain)
        await asyncio.sleep(0.1)
        it.session.interrupt()
        assert (await it.ended("t1")).status == "interrupted"
        assert it.text("calc.py") == ADD and it.all(TurnEnded)


class Told:
    """A race without I/O: says what checks say, and keeps the effects."""

    def __init__(self, attempts: int, *, rounds: int, goals: bool = False) -> None:
        self.race = Race(attempts, [CHECK], slots=4, rounds=rounds, goals=goals)
        self.effects: list[Effect] = []
        self.take(self.race.begin())

    def take(self, effects: list[Effect]) -> list[Effect]:
        self.effects += effects
        return effects

    def say(self, attempt: int, *messages: str, before: bool = False) -> None:
        """All runs of the attempt's check find these."""
        findings = tuple(Finding("test_a.py", 1 + len(each), each) for each in messages)
        verdict = Verdict(
            CHECK, Status.RED if findings else Status.GREEN, 1.0, findings, excerpt=str(messages)
        )
        while any(each == RunCheck(attempt, 0) for each in self.effects):
            self.effects = [each for each in self.effects if each != RunCheck(attempt, 0)]
            self.take(self.race.checked(attempt, 0, verdict))

    def asked(self) -> list[tuple[int, int]]:
        return [(each.attempt, each.answer) for each in self.effects if isinstance(each, Again)]

    def answer(self, attempt: int, key: str, lines: int = 1) -> None:
        self.take(self.race.answered(attempt, Result(key, lines)))


def test_attempts_that_do_the_same_each_answer_again() -> None:
    told = Told(2, rounds=1)
    told.say(BASELINE)
    told.answer(1, "same")
    told.answer(2, "same")
    told.say(1, "wrong")
    assert told.asked() == [(1, 2), (2, 2)]
    told.answer(1, "other")
    told.say(1)
    assert told.race.decision is not None and told.race.decision.winner == 1


def test_what_was_known_of_a_change_is_not_run_again() -> None:
    told = Told(2, rounds=1)
    told.say(BASELINE)
    told.answer(1, "first")
    told.say(1, "wrong")
    told.answer(2, "first")
    assert RunCheck(2, 0) not in told.effects and told.asked() == [(1, 2), (2, 2)]


def test_the_same_output_is_not_sent_twice_and_no_change_is_made_twice() -> None:
    told = Told(1, rounds=9)
    told.say(BASELINE)
    told.answer(1, "first")
    told.say(1, "wrong")
    told.answer(1, "second")
    told.say(1, "wrong")
    assert told.asked() == [(1, 2)] and told.race.decision is not None
    round_about = Told(1, rounds=9)
    round_about.say(BASELINE)
    for key, said in (("first", "one"), ("second", "three"), ("first", "three")):
        round_about.answer(1, key)
        round_about.say(1, said)
    assert round_about.asked() == [(1, 2), (1, 3)] and round_about.race.decision is not None
    ended = [each for each in round_about.effects if isinstance(each, Ended)]
    assert ended[0].state is State.RED and "answer 3 changed nothing" in ended[0].why


@pytest.mark.parametrize("goals", [True, False])
def test_what_was_red_before_is_chased_where_it_is_to_become_green_or_nothing_else_could_land(
    goals: bool,
) -> None:
    told = Told(1, rounds=1, goals=goals)
    told.say(BASELINE, "old")
    told.answer(1, "first")
    told.say(1, "old")
    assert told.asked() == [(1, 2)], "the check was red before, and nothing of it is mended"


def test_a_limit_leaves_the_best_of_the_answers() -> None:
    told = Told(1, rounds=2)
    told.say(BASELINE, "old", "older")
    told.answer(1, "first")
    told.say(1, "old", "newer!")
    told.answer(1, "second")
    told.say(1, "newest")
    told.take(told.race.stop_streaming("no more money"))
    (ended,) = [each for each in told.effects if isinstance(each, Ended)]
    assert ended.state is State.RED and "no more money" in ended.why
    assert told.race.lives[1].answer == 2 and told.race.lives[1].result.key == "second"
