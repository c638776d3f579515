"""Races that end before an answer: what is told of them, in which order, and what is asked of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from session.base.events import (
    AttemptEnded,
    AttemptStarted,
    BaselineChecked,
    Event,
    RaceEnded,
    RaceStarted,
    TurnEnded,
)
from session.checks.check import Check
from session.checks.finding import Verdict
from session.checks.sandbox.command import SandboxRefused
from session.checks.sandbox.sandbox import Sandboxes
from session.commands.race_commands import RaceError
from session.race.attempt import SharedPreparation
from session.race.judge import Judge
from session.setup.user_tables import AttemptSettings
from tests.session.race.attempts.races import ADD, RIGHT, RIGHT_SUM, SYNTAX, WRONG, project, script
from tests.session.talking import talking
from tui.app.race.rows import RaceView

MISSING = Check("none", "not-a-program-at-all")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@pytest.fixture
def slow_preparation(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the request ready only once so many checks have judged the project."""
    prepare, run, judged = SharedPreparation.prepare, Judge.baseline, list[int]()
    wanted = [1]

    async def slowly(self: SharedPreparation, *given: Any, **more: Any) -> Any:
        prepared = await prepare(self, *given, **more)
        async with asyncio.timeout(20):
            while len(judged) < wanted[0]:
                await asyncio.sleep(0.01)
        return prepared

    async def told(self: Judge, check: int) -> Verdict:
        verdict = await run(self, check)
        asyncio.get_running_loop().call_later(0.05, judged.append, check)
        return verdict

    monkeypatch.setattr(SharedPreparation, "prepare", slowly)
    monkeypatch.setattr(Judge, "baseline", told)

    def so_many(checks: int) -> None:
        wanted[0] = checks

    return so_many


def shown(events: list[Event]) -> list[str]:
    """The rows of the panel when all of these are shown."""
    view = RaceView()
    for event in events:
        view.take(event)
    return [row.text for row in view.rows(120, 9)]


async def test_the_estimate_covers_the_second_request_of_each_attempt(root: Path) -> None:
    """Edits come as calls, and what came of them goes back with all of the input; more rounds may follow."""
    async with talking(root, script(RIGHT, WRONG)) as it:
        await it.session.race.start("mend add", 2, [SYNTAX], judge_all=True)
        await it.ended("t1")
        (started,), (ended,) = it.all(RaceStarted), it.all(RaceEnded)
    likely = int("".join(filter(str.isdecimal, started.estimate)))
    assert 2 * 2 * started.input_tokens < ended.tokens <= likely
    assert 2 * 4 * started.input_tokens < likely < 2 * 5 * started.input_tokens, "four requests an attempt"


async def test_a_baseline_that_is_quicker_than_the_request_is_told_after_the_race(
    root: Path, slow_preparation: Callable[[int], None]
) -> None:
    """The panel is made when the race is told of: what came before was lost to it."""
    slow_preparation(1)
    async with talking(root, script(RIGHT, WRONG)) as it:
        await it.session.race.start("mend add", 2, [SYNTAX, RIGHT_SUM])
        await it.ended("t1")
        kinds = [type(event) for event in it.events]
        assert kinds.index(RaceStarted) < kinds.index(BaselineChecked)
        assert len(it.all(BaselineChecked)) == 2


def in_order(events: list[Event]) -> bool:
    """Whether nothing is told of a race before its start, or after its end."""
    told = [event for event in events if isinstance(event, RACE)]
    return not told or (isinstance(told[0], RaceStarted) and isinstance(told[-1], RaceEnded))


RACE = (RaceStarted, BaselineChecked, AttemptStarted, AttemptEnded, RaceEnded)


async def test_a_check_that_cannot_run_is_told_for_each_attempt_and_nothing_is_asked(
    root: Path, slow_preparation: Callable[[int], None]
) -> None:
    """The verdict comes before the request is ready: no attempt begins then."""
    slow_preparation(1)
    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as it:
        await it.session.race.start("mend add", 2, [MISSING])
        ended = await it.ended("t1")
        assert ended.status == "failed" and "not installed" in (ended.message or "")
        head, *rows = shown(it.events)
        assert "no attempt won: none judges nothing: its command is not installed" in head
        assert len(rows) == 2 and all("– cut" in row and "not installed" in row for row in rows)
        assert in_order(it.events), it.events
        assert not it.all(AttemptStarted) and not any(each.generate for each in it.partner.requests)


async def test_a_check_that_cannot_run_ends_attempts_that_stream(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Judge.baseline

    async def late(self: Judge, check: int) -> Verdict:
        verdict = await run(self, check)
        await it.until(AttemptStarted)
        return verdict

    monkeypatch.setattr(Judge, "baseline", late)
    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as it:
        await it.session.race.start("mend add", 2, [MISSING])
        await it.ended("t1")
        head, *rows = shown(it.events)
        assert "not installed" in head and all("– cut" in row and "not installed" in row for row in rows)
        assert in_order(it.events), it.events


async def test_without_a_sandbox_the_race_says_so(
    root: Path, slow_preparation: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(self: Sandboxes) -> None:
        raise SandboxRefused("no room on the disk")

    slow_preparation(1)
    monkeypatch.setattr(Sandboxes, "make", refused)
    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as it:
        await it.session.race.start("mend add", 2, [RIGHT_SUM])
        ended = await it.ended("t1")
        assert ended.status == "failed" and "no room on the disk" in (ended.message or "")
        head, *rows = shown(it.events)
        assert "no room on the disk" in head and all("no room on the disk" in row for row in rows)
        assert in_order(it.events), it.events


async def test_a_race_that_is_stopped_before_it_began_tells_nothing_of_attempts(
    root: Path, slow_preparation: Callable[[int], None]
) -> None:
    slow_preparation(9)
    async with talking(root, script(WRONG, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [Check("slow", "sleep 30")])
        await asyncio.sleep(0.2)
        it.session.interrupt()
        slow_preparation(0)
        assert (await it.ended("t1")).status == "interrupted"
        assert not [event for event in it.events if isinstance(event, RACE)]
        assert not any(each.generate for each in it.partner.requests)
    assert (root / "calc.py").read_text() == ADD


async def test_a_race_over_its_limit_changes_nothing_of_what_is_told_of_the_last_one(root: Path) -> None:
    """Its attempts were told as cut: the panel and Alt+X had them for those of the race before."""
    async with talking(root, script(RIGHT, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [RIGHT_SUM])
        assert (await it.ended("t1")).status == "completed"
        before = shown(it.events)
        assert any("✓ won" in row for row in before)
        limited = replace(it.session._opening.settings, attempts=AttemptSettings(tokens=1_000))
        it.session.race._opening = replace(it.session._opening, settings=limited)
        await it.session.race.start("mend add", 2, [RIGHT_SUM])
        assert (await it.ended("t2")).code == "limit"
        assert shown(it.events) == before
        assert not [each for each in it.all(AttemptEnded) if each.turn == "t2"]
        assert len(it.all(TurnEnded)) == 2


async def test_the_stop_key_counts_before_the_race_has_begun(root: Path) -> None:
    async with talking(root, script(RIGHT)) as it:
        beginning = asyncio.create_task(it.session.race.start("mend add", 1, [RIGHT_SUM]))
        await asyncio.sleep(0)
        it.session.interrupt()
        with pytest.raises(RaceError, match="stopped before it began"):
            await beginning
        assert not it.session.running and not any(each.generate for each in it.partner.requests)
