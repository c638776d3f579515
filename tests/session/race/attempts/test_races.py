"""Races of a real session against the real partner, judged by real commands in sandboxes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from session.base.events import (
    AttemptAnswered,
    AttemptChecked,
    AttemptEnded,
    AttemptStarted,
    Event,
    HunkHeld,
    HunkLanded,
    HunkUndone,
    Notice,
    RaceEnded,
    RaceStarted,
    TextDelta,
    TurnEnded,
    Usage,
)
from session.checks.check import Check
from session.commands.race_commands import RaceError
from session.setup.user_tables import AttemptSettings
from tests.session.race.attempts.races import (
    ADD,
    ALSO_RIGHT,
    ALSO_WRONG,
    BROKEN,
    RIGHT,
    RIGHT_SUM,
    SYNTAX,
    TESTS,
    WRONG,
    project,
    script,
)
from tests.session.talking import talking

CHECKS = [RIGHT_SUM, SYNTAX]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


async def test_the_first_green_attempt_lands_and_the_others_do_not(root: Path) -> None:
    async with talking(root, script(WRONG, BROKEN, RIGHT, ALSO_WRONG, ALSO_RIGHT)) as it:
        await it.session.race.start("mend add", 5, [TESTS, SYNTAX])
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


async def test_another_attempt_takes_the_place_of_the_one_that_is_in_the_project(root: Path) -> None:
    file, again = root / "calc.py", "\n\ndef add(a, b):\n    return a - b\n"
    async with talking(root, script(RIGHT, ALSO_RIGHT)) as it:

        async def take(number: int, turn: str) -> str:
            it.session.race.take(number)
            return (await it.ended(turn)).status

        def refuses(number: int) -> None:
            with pytest.raises(RaceError, match="landed already"):
                it.session.race.take(number)

        await it.session.race.start("mend add", 2, CHECKS, judge_all=True)
        await it.ended("t1")
        winner = it.all(RaceEnded)[0].winner or 0
        other, landed = 3 - winner, file.read_text()
        it.session.race.take(other)
        it.session.interrupt()
        assert (await it.ended("t2")).status == "interrupted" and file.read_text() == landed
        refuses(winner)
        file.write_text("# mine\n")
        assert await take(other, "t3") == "failed", "the winner cannot be undone"
        refuses(winner)
        file.write_text(landed + again)
        assert await take(other, "t4") == "failed", "the other fits twice, now that the winner is undone"
        file.write_text(ADD)
        assert await take(winner, "t5") == "completed" and file.read_text() == landed
        refuses(winner)
        assert await take(other, "t6") == "completed" and file.read_text() not in (landed, ADD)
        assert it.all(HunkUndone)
        refuses(other)


async def test_an_attempt_of_which_nothing_landed_is_not_taken(root: Path) -> None:
    async with talking(root, script(BROKEN, WRONG)) as it:
        await it.session.race.start("mend add", 2, CHECKS, rounds=0)
        await it.ended("t1")
        it.session.review = True
        for turn in ("t2", "t3"):
            it.session.race.take(2)
            await it.until(HunkHeld, lambda each, turn=turn: each.turn == turn)  # type: ignore[misc] # a default
            it.session.interrupt()
            assert (await it.ended(turn)).status == "interrupted"
        assert it.text("calc.py") == ADD


async def test_equal_answers_are_judged_once(root: Path) -> None:
    async with talking(root, script(WRONG, WRONG, WRONG)) as it:
        await it.session.race.start("mend add", 3, [SYNTAX, RIGHT_SUM])
        await it.ended("t1")
        assert len({each.attempt for each in it.all(AttemptChecked)}) == 1
        assert [e.status for e in it.all(AttemptEnded)] == ["red"] * 3


async def test_the_model_remembers_the_winner_and_the_tokens_are_those_of_all(root: Path) -> None:
    async with talking(root, script(RIGHT, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [RIGHT_SUM], judge_all=True)
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


async def test_what_was_red_before_is_not_held_against_an_attempt_but_never_called_green(root: Path) -> None:
    other = Check("other", "echo 'calc.py:1: old'; exit 1")
    async with talking(root, script(WRONG, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [RIGHT_SUM, other])
        ended = await it.ended("t1")
        assert ended.status == "completed", ended
        (race,) = it.all(RaceEnded)
        assert race.winner and race.green == 0 and "still red" in race.why
        assert RIGHT in it.text("calc.py")
        checked = [each for each in it.all(AttemptChecked) if each.attempt == race.winner]
        assert [(each.status, each.as_before) for each in checked] == [("green", False), ("red", True)]


async def test_where_all_was_red_before_and_nothing_is_mended_nothing_lands(root: Path) -> None:
    old = Check("old", "echo 'calc.py:1: old'; exit 1")
    async with talking(root, script(WRONG, ALSO_WRONG)) as it:
        await it.session.race.start("mend add", 2, [old])
        ended = await it.ended("t1")
        assert ended.code == "no_winner" and "red before" in (ended.message or "")
        assert it.text("calc.py") == ADD
        assert {each.status for each in it.all(AttemptEnded)} == {"red"}


async def test_the_project_changes_under_a_race(root: Path) -> None:
    slow = Check("slow", "sleep 0.1")
    async with talking(root, script(RIGHT)) as it:
        await it.session.race.start("mend add", 1, [slow])
        await it.until(AttemptAnswered)
        (root / "calc.py").write_text("# all new\n")
        ended = await it.ended("t1")
        message = ended.message or ""
        assert ended.status == "failed" and message.startswith("nothing was landed: ")
        assert "no longer fits: " in message
        assert it.text("calc.py") == "# all new\n" and not it.all(HunkLanded)


async def test_lines_elsewhere_that_changed_meanwhile_are_told(root: Path) -> None:
    slow = Check("slow", "sleep 0.1")
    async with talking(root, script(RIGHT)) as it:
        await it.session.race.start("mend add", 1, [slow])
        await it.until(AttemptAnswered)
        (root / "calc.py").write_text(f"# mine\n{ADD}")
        assert (await it.ended("t1")).status == "completed"
        assert it.text("calc.py") == f"# mine\n{ADD}".replace("return a - b", RIGHT)
        assert any("changed during the race" in each.text for each in it.all(Notice))


async def test_a_check_that_attacks_the_project_changes_nothing_of_it(root: Path) -> None:
    wild = Check("wild", "rm -rf ./* ; echo x > calc.py; (setsid sleep 300 &) ; mkdir new; exit 0")
    async with talking(root, script(RIGHT, WRONG)) as it:
        await it.session.race.start("mend add", 2, [wild, RIGHT_SUM], judge_all=True)
        assert (await it.ended("t1")).status == "completed"
        assert RIGHT in it.text("calc.py") and [path.name for path in root.iterdir()] == ["calc.py"]
        (race,) = it.all(RaceEnded)
        assert race.green == 1, "what one check wrote is not there for the next"


async def test_two_sessions_race_in_one_project_at_once(root: Path) -> None:
    async with talking(root, script(WRONG, RIGHT)) as one, talking(root, script(WRONG, BROKEN)) as two:
        await one.session.race.start("mend add", 2, CHECKS)
        await two.session.race.start("mend add", 2, CHECKS)
        assert (await one.ended("t1")).status == "completed"
        assert (await two.ended("t1")).code == "no_winner"
        assert RIGHT in one.text("calc.py")


async def test_a_dropped_link_in_the_middle_fails_one_attempt_and_not_the_race(root: Path) -> None:
    cut = script(WRONG).replace(
        '[[scenario.step]]\nsay = "Done', '[[scenario.step]]\nclose = {}\n[[scenario.step]]\nsay = "Done'
    )
    first, rest = (
        cut,
        script(RIGHT).partition("\n")[2].replace('id = "a1"', 'id = "b1"').replace("Answer 1", "Answer 2"),
    )
    async with talking(root, f"{first}\n{rest}") as it:
        await it.session.race.start("mend add", 2, CHECKS)
        ended = await it.ended("t1")
        assert ended.status == "completed", ended
        assert RIGHT in it.text("calc.py")


async def test_limits_are_held(root: Path) -> None:
    async with talking(root, script(RIGHT, RIGHT)) as it:
        limited = replace(it.session._opening.settings, attempts=AttemptSettings(tokens=1_000))
        it.session.race._opening = replace(it.session._opening, settings=limited)
        await it.session.race.start("mend add", 2, CHECKS)
        ended = await it.ended("t1")
        assert ended.code == "limit" and "over the limit" in (ended.message or "")
        assert not it.partner.requests or not any(each.generate for each in it.partner.requests)
        brief = replace(limited, attempts=AttemptSettings(minutes=0.005))
        it.session.race._opening = replace(it.session._opening, settings=brief)
        await it.session.race.start("mend add", 2, [Check("slow", "sleep 30")])
        ended = await it.ended("t2")
        assert ended.code == "no_winner" and "minutes is reached" in (ended.message or "")
    assert it.text("calc.py") == ADD


async def test_an_attempt_whose_hunks_were_refused_says_how_many_and_why(root: Path) -> None:
    misfits = script(WRONG).replace("-    return a - b", "-    return nothing like it")
    twice = misfits.replace('patch = ["fix"]', 'patch = ["fix", "fix"]')
    async with talking(root, twice) as it:
        await it.session.race.start("mend add", 1, [SYNTAX])
        await it.ended("t1")
        (ended,) = it.all(AttemptEnded)
        (race,) = it.all(RaceEnded)
        with pytest.raises(RaceError, match="changed nothing; 2 hunks were refused, the first"):
            it.session.race.take(1)
    assert ended.status == "failed"
    assert ended.why.startswith("it changed nothing; 2 hunks were refused, the first: calc.py"), ended.why
    assert race.why.startswith(ended.why) and not race.best


@pytest.mark.parametrize("moment", [AttemptAnswered, RaceEnded, TextDelta, HunkLanded])
async def test_a_race_that_is_stopped_at_its_end_lands_all_of_the_winner_or_nothing(
    root: Path, moment: type[Event]
) -> None:
    async with talking(root, script(RIGHT)) as it:
        await it.session.race.start("mend add", 1, [RIGHT_SUM])
        await it.until(moment)
        it.session.interrupt()
        ended = await it.ended("t1")
        landed = len(it.all(HunkLanded))
        assert it.text("calc.py") == (ADD.replace("return a - b", RIGHT) if landed else ADD)
        assert ended.status == "interrupted" or landed
        if moment is AttemptAnswered:  # its check still runs
            assert not landed and it.all(Usage)[-1].kept_tokens == 0
        it.session.submit("add nothing more")
        await it.ended("t2")
        assert "mend add" in it.sent() and it.all(TurnEnded)[-1].status == "completed"
