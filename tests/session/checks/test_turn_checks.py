"""Checks that follow the turns, and run once before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from session.base.events import (
    CheckEnded,
    Event,
    FileSaved,
    HunkChecked,
    HunkLanded,
    Notice,
    TurnEnded,
    TurnStarted,
)
from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.checks.turn_checks import CHANGED_SINCE
from tests.session.checks.following import TESTS, Followed, landed, started


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("one\ntwo\nwrong from the start\n")
    return tmp_path


async def test_costly_checks_wait_for_the_end_of_the_turn(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.take(started())
    followed.take(landed("h1", 1))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == []
    followed.take(TurnEnded("t1", "completed"))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "red"
    assert event.findings == ("a.py:3: wrong from the start",)
    await followed.close()


async def test_the_next_turn_ends_a_costly_check_that_still_runs(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    await followed.asked(1)
    followed.take(started())
    followed.take(landed("h2", 2))
    followed.take(TurnEnded("t2", "completed"))
    await followed.asked(2)
    followed.linter.go.release()
    assert len(await followed.told(1)) == 1
    await followed.close()


async def test_a_turn_that_changes_nothing_runs_no_costly_check(root: Path) -> None:
    followed = Followed(root, TESTS)
    await followed.asked(1)
    followed.linter.go.release()
    await followed.told(1)
    followed.take(started())
    followed.take(TurnEnded("t1", "completed"))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == [("tests", None)], "only the run before anything changed"
    await followed.close()


# The run before anything changed.


async def judged_before(followed: Followed) -> Event:
    await followed.asked(1)
    followed.linter.go.release()
    (event,) = await followed.told(1)
    return event


async def one_turn(followed: Followed, turn: str, runs: int = 1) -> list[Event]:
    one_turn_over(followed, turn, runs)
    return await followed.told(1)


def one_turn_over(followed: Followed, turn: str, runs: int = 1) -> None:
    followed.take(TurnStarted(session="s", turn=turn, model="m", effort="low", input_tokens=1))
    followed.take(landed("h" + turn, 1))
    followed.take(TurnEnded(turn, "completed"))
    for _ in range(runs):
        followed.linter.go.release()


async def test_what_was_red_before_is_said_once_and_not_held_against_a_turn(root: Path) -> None:
    followed = Followed(root, TESTS)
    said = await judged_before(followed)
    assert isinstance(said, Notice)
    assert said.text == (
        "tests is red before any change and is not held against one: a.py:3: wrong from the start"
    )
    (root / "a.py").write_text("one more\none\ntwo\nwrong from the start\n")
    (event,) = await one_turn(followed, "t1")
    assert isinstance(event, CheckEnded)
    assert (event.status, event.findings, event.before) == ("as_before", (), 1)
    (root / "a.py").write_text("wrong again\nwrong from the start\n")
    (event,) = await one_turn(followed, "t2")
    assert isinstance(event, CheckEnded)
    assert (event.status, event.findings, event.before) == ("red", ("a.py:1: wrong again",), 1)
    await followed.close()


async def test_what_was_mended_is_held_against_the_turn_that_breaks_it_again(root: Path) -> None:
    followed = Followed(root, TESTS)
    await judged_before(followed)
    (root / "a.py").write_text("mended\n")
    (event,) = await one_turn(followed, "t1")
    assert isinstance(event, CheckEnded) and event.status == "green"
    (root / "a.py").write_text("wrong from the start\n")
    (event,) = await one_turn(followed, "t2")
    assert isinstance(event, CheckEnded)
    assert (event.status, event.findings) == ("red", ("a.py:1: wrong from the start",))
    await followed.close()


async def test_what_a_hunk_kept_from_being_seen_is_looked_at_afterwards(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.before = Verdict(TESTS, Status.RED, 0.0, (Finding("a.py", 1, "wrong from the start"),))
    await followed.asked(1)
    (root / "a.py").write_text("one more\none\ntwo\nwrong from the start\n")
    one_turn_over(followed, "t1")
    said, event = await followed.told(2)
    assert isinstance(said, Notice) and "red before any change" in said.text
    assert isinstance(event, CheckEnded) and (event.status, event.before) == ("as_before", 1)
    assert followed.looked_back == [("ht1",)], "the files are looked at as they were before that hunk"
    await followed.close()


async def test_a_turn_that_breaks_what_was_fine_is_blamed_though_it_came_early(root: Path) -> None:
    followed = Followed(root, TESTS)
    await followed.asked(1)
    one_turn_over(followed, "t1")
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded)
    assert (event.status, event.findings) == ("red", ("a.py:3: wrong from the start",))
    await followed.close()


# A prompt while the tests run.


async def test_a_turn_that_changes_nothing_leaves_the_tests_of_the_last_one_running(root: Path) -> None:
    followed = Followed(root, TESTS)
    await judged_before(followed)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    await followed.asked(2)
    followed.take(TurnStarted(session="s", turn="t2", model="m", effort="low", input_tokens=1))
    followed.take(TurnEnded("t2", "completed"))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "as_before"
    assert followed.judged == ["t1"]
    await followed.close()


async def test_what_is_not_tested_yet_is_said_and_tested_with_the_next_turn(root: Path) -> None:
    (root / "b.py").write_text("fine\n")
    followed = Followed(root, Check("tests", "tests", Kind.TESTS, files=("a.py",)))
    await judged_before(followed)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    await followed.asked(2)
    followed.take(TurnStarted(session="s", turn="t2", model="m", effort="low", input_tokens=1))
    followed.take(HunkLanded("t2", "h2", "b.py", "applied", 1, 1, 2))
    (said,) = await followed.told(1)
    assert isinstance(said, HunkChecked)
    assert (said.hunk, said.status, said.message) == ("h1", "pending", "not tested yet")
    followed.take(TurnEnded("t2", "completed"))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "as_before", "b.py alone is not what it is about"
    assert followed.judged == ["t2"]
    await followed.close()


# Of files that stay as they are.


async def test_a_costly_check_runs_again_where_a_file_changes_under_it(root: Path) -> None:
    followed = Followed(root, TESTS)
    await judged_before(followed)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    await followed.asked(2)
    (root / "a.py").write_text("mended by hand\n")
    followed.linter.go.release()
    await followed.asked(3)
    assert followed.events == []
    followed.take(FileSaved("b.py"))
    followed.linter.go.release()
    await followed.asked(4)
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "green"
    assert followed.judged == ["t1"]
    await followed.close()


async def test_a_red_check_says_that_files_changed_after_the_turn(root: Path) -> None:
    followed = Followed(root, TESTS)
    await judged_before(followed)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    await followed.asked(2)
    followed.take(FileSaved("b.py"))
    (root / "a.py").write_text("one\nwrong from now on\n")
    followed.linter.go.release()
    await followed.asked(3)
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "red"
    assert event.why.endswith(CHANGED_SINCE)
    await followed.close()


async def test_a_check_whose_files_never_rest_says_nothing(root: Path) -> None:
    followed = Followed(root, TESTS)
    await judged_before(followed)
    followed.take(started())
    followed.take(landed("h1", 1))
    followed.take(TurnEnded("t1", "completed"))
    for count in range(3):
        await followed.asked(2 + count)
        (root / "a.py").write_text("x" * count)
        followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded)
    assert (event.status, event.why) == ("unclear", "files changed in each of 3 runs; /check runs it again")
    await followed.close()


# The tests that reach what changed.

PYTEST = Check("pytest", "pytest {tests}", Kind.TESTS)


async def test_the_tests_that_reach_the_change_run_first_then_all(root: Path) -> None:
    followed = Followed(root, PYTEST, tests=["tests/test_a.py"])
    commands: list[str] = []
    verdicts = iter([Status.GREEN, Status.GREEN, Status.GREEN, Status.RED])

    async def judge(check: Check, changed: Sequence[str] | None) -> Verdict:
        commands.append(check.line(changed))
        return Verdict(check, next(verdicts), 0.0, why="exit 1")

    followed.turns._judge = judge
    await asyncio.sleep(0.01)
    (event,) = await one_turn(followed, "t1")
    assert isinstance(event, CheckEnded) and event.status == "green"
    (event,) = await one_turn(followed, "t2")
    assert isinstance(event, CheckEnded) and event.status == "red"
    assert event.why == "exit 1, in tests that reach the change; the others did not run"
    assert commands == ["pytest", "pytest tests/test_a.py", "pytest", "pytest tests/test_a.py"]
    await followed.close()
