"""Races with answers and checks that hang: nothing waits longer than what was before any change allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import AttemptChecked, AttemptEnded, RaceEnded
from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.race import judge, race_runner
from session.race.attempt_life import Result
from session.race.race_rules import BASELINE, Decided, Effect, Race, RunCheck
from tests.session.race.attempts.races import RIGHT, WRONG, project, script
from tests.session.talking import configure, talking

HANGS = Check(
    "tests", "if grep -q 'a [*] b' calc.py; then sleep 600; fi; grep -q 'a [+] b' calc.py", Kind.TESTS
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    configure(tmp_path / "project", "[attempts]\nchecks_at_once = 1\n")
    return project(tmp_path / "project")


async def test_a_check_that_sleeps_does_not_hold_the_only_slot(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "LEAST_SLOW", 0.2)
    async with talking(root, script(WRONG, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [HANGS])
        ended = await it.ended("t1")
        assert ended.status == "completed", ended
        assert RIGHT in it.text("calc.py")


async def test_a_check_that_hangs_is_ended_by_what_it_took_before_and_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "LEAST_IF_RED", 1.0)
    monkeypatch.setattr(judge, "TIMES_BEFORE", 0.0)
    async with talking(root, script(WRONG)) as it:
        await it.session.race.start("mend add", 1, [HANGS])
        await it.until(RaceEnded)
        (checked,) = it.all(AttemptChecked)
        assert checked.status == "unclear" and "it was ended after 1 s; before any change" in checked.why


async def test_an_answer_that_stopped_coming_is_given_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_runner, "LEAST_SILENCE", 0.5)
    monkeypatch.setattr(race_runner, "TIMES_ANSWER", 0.0)
    silent = script(WRONG, stall=600).replace('id = "a1"', 'id = "silent"')
    await_it = silent + script("return a").partition("\n")[2]
    async with talking(root, await_it) as it:
        await it.session.race.start("mend add", 2, [HANGS])
        await it.until(RaceEnded)
        ends = {each.status: each.why for each in it.all(AttemptEnded)}
        assert "nothing came of its answer" in ends["failed"] and "red" in ends


def test_the_best_of_a_lost_race_has_the_fewest_tests_that_failed_in_every_run() -> None:
    """Beside a test that fails half the time the wrong answer is no better than the right one."""
    race = Race(2, [Check("tests", "pytest", Kind.TESTS)], slots=1)
    flake, wrong = Finding("test_net.py", 3, "timeout"), Finding("test_add.py", 3, "assert 6 == 5")

    def say(effects: list[Effect], *findings: Finding) -> list[Effect]:
        (run,) = [each for each in effects if isinstance(each, RunCheck)]
        status = Status.RED if findings else Status.GREEN
        return race.checked(run.attempt, run.check, Verdict(race.checks[0], status, 1.0, findings))

    effects = say(race.begin())  # green before any change
    effects = race.answered(1, Result("wrong", 1))
    effects = [*say(effects, wrong, flake)]
    say(effects, wrong)  # again: it is red in both
    effects = race.answered(2, Result("right", 5))
    runs = 0
    while race.decision is None:
        before = any(isinstance(each, RunCheck) and each.attempt == BASELINE for each in effects)
        runs += not before
        effects = say(effects, flake) if runs == 1 and not before else say(effects)
    assert race.decision == Decided(0, 2, race.decision.why), "the longer one, with no test that always fails"
