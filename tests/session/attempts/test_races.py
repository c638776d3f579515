"""Races of a real session against the real partner, judged by real commands in sandboxes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from session.commands.race_commands import RaceError
from session.events import (
    AttemptChecked,
    AttemptEnded,
    AttemptStarted,
    HunkLanded,
    HunkUndone,
    RaceEnded,
    RaceStarted,
    TextDelta,
    TurnEnded,
    Usage,
)
from tests.session.attempts.races import (
    ADD,
    ALSO_RIGHT,
    ALSO_WRONG,
    BROKEN,
    RIGHT,
    SYNTAX,
    TESTS,
    WRONG,
    project,
    script,
)
from tests.session.talking import talking

CHECKS = [TESTS, SYNTAX]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


async def test_the_first_green_attempt_lands_and_the_others_do_not(root: Path) -> None:
    async with talking(root, script(WRONG, BROKEN, RIGHT, ALSO_WRONG, ALSO_RIGHT)) as it:
        await it.session.race.start("mend add", 5, CHECKS)
        ended = await it.ended("t1")
        assert ended.status == "completed", ended
        assert it.text("calc.py") in (
            ADD.replace("return a - b", RIGHT),
            ADD.replace("return a - b", ALSO_RIGHT),
        )
        (race,) = it.all(RaceEnded)
        assert race.winner and race.attempts == 5 and race.green >= 1
        (landed,) = it.all(HunkLanded)
        assert landed.turn == "t1" and landed.path == "calc.py"
        assert len(it.all(AttemptStarted)) == 5 and len({e.attempt for e in it.all(AttemptEnded)}) == 5
        assert [e.status for e in it.all(AttemptEnded)].count("won") == 1
        assert it.all(RaceStarted)[0].checks == ("syntax", "tests")
        assert "".join(each.text for each in it.all(TextDelta)).startswith("Answer ")
        undone = await it.session.hunks.undo(landed.hunk)
        assert isinstance(undone, HunkUndone) and it.text("calc.py") == ADD


async def test_without_a_green_attempt_nothing_lands_and_the_best_can_be_taken(root: Path) -> None:
    async with talking(root, script(BROKEN, WRONG)) as it:
        await it.session.race.start("mend add", 2, CHECKS)
        ended = await it.ended("t1")
        assert ended.status == "failed" and ended.code == "no_winner"
        assert it.text("calc.py") == ADD and not it.all(HunkLanded)
        (race,) = it.all(RaceEnded)
        assert race.winner is None and race.best is not None and race.green == 0
        assert WRONG in it.session.race.diff(race.best), "the one that parses passed more checks"
        it.session.race.take(race.best)
        assert (await it.ended("t2")).status == "completed"
        assert WRONG in it.text("calc.py")
        assert it.all(HunkLanded)[0].turn == "t2"


async def test_another_attempt_takes_the_place_of_the_winner(root: Path) -> None:
    async with talking(root, script(RIGHT, ALSO_RIGHT)) as it:
        await it.session.race.start("mend add", 2, CHECKS, judge_all=True)
        await it.ended("t1")
        (race,) = it.all(RaceEnded)
        assert race.winner and race.green == 2
        other = 3 - race.winner
        first = it.text("calc.py")
        it.session.race.take(other)
        assert (await it.ended("t2")).status == "completed"
        assert it.text("calc.py") != first and it.all(HunkUndone)
        with pytest.raises(RaceError, match="landed already"):
            it.session.race.take(other)


async def test_equal_answers_are_judged_once(root: Path) -> None:
    async with talking(root, script(WRONG, WRONG, WRONG)) as it:
        await it.session.race.start("mend add", 3, [SYNTAX, TESTS])
        await it.ended("t1")
        assert len({each.attempt for each in it.all(AttemptChecked)}) == 1
        assert [e.status for e in it.all(AttemptEnded)] == ["red"] * 3


async def test_the_model_remembers_the_winner_and_the_tokens_are_those_of_all(root: Path) -> None:
    async with talking(root, script(RIGHT, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [TESTS], judge_all=True)
        await it.ended("t1")
        one = [request.body["input"] for request in it.partner.requests if request.generate]
        short, long = sorted(one[:2], key=len)
        assert long[: len(short)] == short and len(long) == len(short) + 1, "only the hint differs"
        usage = it.all(Usage)[-1]
        assert usage.turn == "t1" and usage.input_tokens > 0
        it.session.submit("add nothing more")
        await it.ended("t2")
        assert "mend add" in it.sent() and "Answer" in it.sent() and "h1" in it.sent()


async def test_the_stop_key_ends_all_attempts_at_once(root: Path) -> None:
    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as it:
        await it.session.race.start("mend add", 2, CHECKS)
        await it.until(AttemptStarted)
        await asyncio.sleep(0.2)
        it.session.interrupt()
        ended = await it.ended("t1")
        assert ended.status == "interrupted"
        assert {e.status for e in it.all(AttemptEnded)} == {"cut"}
        assert it.text("calc.py") == ADD and not it.all(HunkLanded)


async def test_a_check_that_cannot_run_ends_the_race_before_tokens_are_spent(root: Path) -> None:
    from session.checks.check import Check

    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as it:
        await it.session.race.start("mend add", 2, [Check("none", "not-a-program-at-all")])
        ended = await it.ended("t1")
        assert ended.status == "failed" and "not installed" in (ended.message or "")


async def test_what_cannot_race_says_why(root: Path) -> None:
    async with talking(root, script(RIGHT)) as it:
        for attempts, why in ((0, "1 to 64"), (65, "1 to 64")):
            with pytest.raises(RaceError, match=why):
                await it.session.race.start("mend add", attempts, CHECKS)
        with pytest.raises(RaceError, match="checks"):
            await it.session.race.start("mend add", 2)
        with pytest.raises(RaceError, match="no race"):
            it.session.race.take(1)
        assert not it.all(TurnEnded)
