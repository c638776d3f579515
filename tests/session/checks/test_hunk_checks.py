"""Checks that follow the hunks of a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status, Verdict
from session.checks.hunk_checks import HunkChecks
from session.events import CheckEnded, Event, HunkChecked, HunkLanded, TurnEnded, TurnStarted

LINT = Check("lint", "lint {files}", Kind.LINT, files=("*.py",))
TESTS = Check("tests", "tests", Kind.TESTS)


class Linter:
    """Finds the word "wrong" in files, when it is let go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[tuple[str, list[str] | None]] = []
        self.go = asyncio.Semaphore(0)

    async def judge(self, check: Check, changed: Sequence[str] | None) -> Verdict:
        self.asked.append((check.name, list(changed) if changed is not None else None))
        await self.go.acquire()
        paths = changed if changed is not None else [path.name for path in self.root.iterdir()]
        findings = tuple(
            Finding(path, number, line)
            for path in paths
            for number, line in enumerate((self.root / path).read_text().splitlines(), 1)
            if "wrong" in line
        )
        return Verdict(check, Status.RED if findings else Status.GREEN, 0.0, findings)


class Followed:
    """Hunk checks at work on a folder, and the events they publish."""

    def __init__(self, root: Path, *checks: Check) -> None:
        self.linter = Linter(root)
        self.events: list[Event] = []
        self.checks = HunkChecks(root, checks, self.linter.judge, self.events.append)
        self.tasks = [
            asyncio.create_task(self.checks.judge_hunks()),
            asyncio.create_task(self.checks.judge_turns()),
        ]

    async def asked(self, count: int) -> None:
        """Wait until the linter was asked ``count`` times."""
        while len(self.linter.asked) < count:
            await asyncio.sleep(0.001)

    async def told(self, count: int) -> list[Event]:
        """Wait for ``count`` events and forget them."""
        while len(self.events) < count:
            await asyncio.sleep(0.001)
        told, self.events[:] = list(self.events), []
        return told

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        ended = await asyncio.gather(*self.tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("one\ntwo\nwrong from the start\n")
    return tmp_path


def started() -> TurnStarted:
    return TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1)


def landed(hunk: str, start: int, path: str = "a.py") -> HunkLanded:
    return HunkLanded("t1", hunk, path, "applied", 1, start, start + 1)


async def test_a_hunk_is_judged_while_the_turn_runs(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.checks.take(started())
    followed.linter.go.release()
    await followed.asked(1)
    await asyncio.sleep(0.01)
    (root / "a.py").write_text("one\nwrong now\nwrong from the start\n")
    followed.checks.take(landed("h1", 1))
    followed.checks.take(landed("h2", 2))
    followed.linter.go.release()
    first, second = await followed.told(2)
    assert first == HunkChecked("h1", "a.py", "lint", "green")
    assert second == HunkChecked("h2", "a.py", "lint", "red", 2, "wrong now")
    assert followed.linter.asked == [("lint", None), ("lint", ["a.py"])]
    await followed.close()


async def test_a_hunk_whose_file_changes_under_the_check_is_judged_again(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong\n")
    followed.checks.take(landed("h1", 1))
    await followed.asked(1)
    (root / "a.py").write_text("mended\n")
    followed.linter.go.release()
    await followed.asked(2)
    assert followed.events == []
    followed.linter.go.release()
    assert await followed.told(1) == [HunkChecked("h1", "a.py", "lint", "green")]
    await followed.close()


async def test_a_hunk_that_lands_before_the_first_look_is_judged_by_its_own_lines(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.checks.take(started())
    await followed.asked(1)
    followed.checks.take(landed("h1", 1))
    followed.linter.go.release()
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, HunkChecked) and event.status == "green", "line 3 was wrong from the start"
    await followed.close()


async def test_a_red_hunk_turns_green_when_a_later_one_mends_it(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong\n")
    followed.checks.take(landed("h1", 1))
    followed.linter.go.release()
    (first,) = await followed.told(1)
    assert isinstance(first, HunkChecked) and first.status == "red"
    (root / "a.py").write_text("right\nmore\n")
    followed.checks.take(landed("h2", 2))
    followed.linter.go.release()
    assert await followed.told(2) == [
        HunkChecked("h1", "a.py", "lint", "green"),
        HunkChecked("h2", "a.py", "lint", "green"),
    ]
    await followed.close()


async def test_costly_checks_wait_for_the_end_of_the_turn(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.checks.take(started())
    followed.checks.take(landed("h1", 1))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == []
    followed.checks.take(TurnEnded("t1", "completed"))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, CheckEnded) and event.status == "red"
    assert event.findings == ("a.py:3: wrong from the start",)
    await followed.close()


async def test_the_next_turn_ends_a_costly_check_that_still_runs(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.checks.take(started())
    followed.checks.take(landed("h1", 1))
    followed.checks.take(TurnEnded("t1", "completed"))
    await followed.asked(1)
    followed.checks.take(started())
    followed.checks.take(landed("h2", 2))
    followed.checks.take(TurnEnded("t2", "completed"))
    await followed.asked(2)
    followed.linter.go.release()
    assert len(await followed.told(1)) == 1
    await followed.close()


async def test_a_turn_that_changes_nothing_runs_no_costly_check(root: Path) -> None:
    followed = Followed(root, TESTS)
    followed.checks.take(started())
    followed.checks.take(TurnEnded("t1", "completed"))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == []
    await followed.close()


async def test_files_that_a_check_is_not_about_are_not_judged_by_it(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.checks.take(landed("h1", 1, "notes.md"))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == [] and followed.events == []
    await followed.close()
