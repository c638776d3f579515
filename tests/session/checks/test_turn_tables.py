"""Checks of whole turns in tables, by what the check says of each run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from session.base.events import (
    CheckEnded,
    CheckStarted,
    Event,
    FileSaved,
    FilesChanged,
    HunkChecked,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    Notice,
    TurnEnded,
    TurnStarted,
)
from session.checks.check import Check, Kind
from session.checks.finding import (
    Finding,
    Status,
    Verdict,
)
from session.checks.red import standing
from session.checks.turn_checks import TurnChecks, ended_event

TESTS = Check("tests", "pytest -q", Kind.TESTS)


LINT = Check("lint", "lint", Kind.LINT)
PYTEST = Check("pytest", "pytest {tests}", Kind.TESTS, files=("*.py",))


class Judged:
    """Turn checks whose verdicts the test gives one after the other, without files that change."""

    def __init__(self, root: Path, *verdicts: Verdict, tests: Sequence[str] = ()) -> None:
        self.asked: list[tuple[str, Sequence[str] | None]] = []
        self.events: list[Event] = []
        self.judged: list[str] = []
        self._verdicts = iter(verdicts)
        self._tests = tests
        checks = TurnChecks(
            root,
            [LINT, PYTEST],
            self._judge,
            self._reaching,
            self._judge,
            self.events.append,
            self._settled,
            self._ended,
        )
        self.take = checks.take
        self._task = asyncio.create_task(checks.judge_turns())
        self.quiet = asyncio.Event()

    async def _judge(self, check: Check, changed: Sequence[str] | None) -> Verdict:
        self.asked.append((check.line(changed), changed))
        verdict = next(self._verdicts, None)
        if verdict is None:
            raise AssertionError("nobody expected another run")
        return verdict

    async def _reaching(self, check: Check, changed: Sequence[str]) -> Sequence[str]:
        return self._tests

    async def _settled(self) -> None:
        pass

    def _ended(self, turn: str) -> None:
        self.judged.append(turn)
        self.quiet.set()

    async def turn(self, name: str, path: str = "a.py") -> None:
        """A turn that lands a hunk, until it is judged."""
        self.quiet.clear()
        self.take(TurnStarted(session="s", turn=name, model="m", effort="low", input_tokens=1))
        self.take(HunkLanded(name, "h1", path, "applied", 1, 1, 2))
        self.take(TurnEnded(name, "completed"))
        await self.quiet.wait()

    async def look(self) -> None:
        """Wait until the look before anything changed is taken."""
        while not self.asked:
            await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def says(status: Status, *messages: str, why: str = "") -> Verdict:
    findings = tuple(Finding("a.py", 1, message) for message in messages)
    return Verdict(PYTEST, status, 0.12345, findings, why)


def ended(status: str, *findings: str, why: str = "", before: int = 0) -> CheckEnded:
    return CheckEnded("pytest", status, 0.123, tuple(f"a.py:1: {each}" for each in findings), why, before)


GREEN, RED, UNCLEAR = Status.GREEN, Status.RED, Status.UNCLEAR
HELD = "pytest is red before any change and is not held against one: "
TURNS: dict[str, tuple[list[Verdict], Sequence[str], list[Event]]] = {
    "green before and after": ([says(GREEN), says(GREEN)], (), [ended("green")]),
    "red by the turn": ([says(GREEN), says(RED, "a", why="exit 1")], (), [ended("red", "a", why="exit 1")]),
    "what was red before is told once": (
        [says(RED, "a"), says(RED, "a")],
        (),
        [Notice("info", f"{HELD}a.py:1: a"), ended("as_before", before=1)],
    ),
    "many findings before are counted": (
        [says(RED, "a", "b"), says(RED, "a", "c")],
        (),
        [Notice("info", f"{HELD}2 findings, the first is a.py:1: a"), ended("red", "c", before=1)],
    ),
    "red before without any place": (
        [says(RED, why="exit 1"), says(RED, why="exit 1")],
        (),
        [Notice("info", f"{HELD}exit 1"), ended("as_before", why="exit 1")],
    ),
    "red before without a place, and with one after": (
        [says(RED, why="exit 1"), says(RED, "a", why="exit 1")],
        (),
        [Notice("info", f"{HELD}exit 1"), ended("red", "a", why="exit 1")],
    ),
    "unclear before": (
        [says(UNCLEAR, why="no pytest"), says(RED, "a")],
        (),
        [
            Notice("warning", "pytest says nothing of the project before any change: no pytest"),
            ended("red", "a"),
        ],
    ),
    "the tests that reach the change are enough where they find something new": (
        [says(GREEN), says(RED, "a", why="exit 1")],
        ["t/test_a.py"],
        [ended("red", "a", why="exit 1, in tests that reach the change; the others did not run")],
    ),
    "the tests that reach the change are followed by all where they find nothing new": (
        [says(RED, "a"), says(RED, "a"), says(GREEN)],
        ["t/test_a.py"],
        [Notice("info", f"{HELD}a.py:1: a"), ended("green")],
    ),
}


@pytest.mark.parametrize("story", TURNS)
async def test_what_is_told_of_one_turn(story: str, tmp_path: Path) -> None:
    verdicts, tests, told = TURNS[story]
    checks = Judged(tmp_path, *verdicts, tests=tests)
    await checks.look()
    await checks.turn("t1")
    assert [event for event in checks.events if event != CheckStarted("pytest")] == told
    assert checks.judged == ["t1"] and len(checks.asked) == len(verdicts)
    assert checks.asked[0] == ("pytest", None) and checks.asked[1][1] == ["a.py"]
    await checks.close()


async def test_what_was_mended_counts_when_it_breaks_again(tmp_path: Path) -> None:
    rows: list[tuple[Verdict, CheckEnded]] = [
        (says(UNCLEAR, why="no time"), ended("unclear", why="no time")),
        (says(RED, "a", "b"), ended("as_before", before=2)),
        (says(RED, "a"), ended("as_before", before=1)),
        (says(RED, "a", "b"), ended("red", "b", before=1)),
        (says(GREEN), ended("green")),
        (says(RED, "a"), ended("red", "a")),
    ]
    checks = Judged(tmp_path, says(RED, "a", "b"), *(verdict for verdict, _ in rows))
    await checks.look()
    for number, (_, told) in enumerate(rows, 1):
        checks.events.clear()
        await checks.turn(f"t{number}")
        assert checks.events == [CheckStarted("pytest"), told], f"row {number}"
    await checks.close()


async def test_of_equal_findings_those_that_were_mended_count_again(tmp_path: Path) -> None:
    rows = [
        (says(RED, "a"), ended("as_before", before=1)),
        (says(RED, "a", "a"), ended("red", "a", before=1)),
    ]
    checks = Judged(tmp_path, says(RED, "a", "a"), *(verdict for verdict, _ in rows))
    await checks.look()
    for number, (_, told) in enumerate(rows, 1):
        await checks.turn(f"t{number}")
        assert checks.events[-1] == told, f"row {number}"
    await checks.close()


async def test_a_turn_on_files_that_no_check_is_about_is_judged_without_one(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN))
    await checks.look()
    await checks.turn("t1", "notes.md")
    assert checks.events == [] and checks.judged == ["t1"]
    await checks.close()


CHANGES: list[tuple[Event, bool]] = [
    (FileSaved("b.py"), True),
    (FilesChanged(("b.py",)), True),
    (FilesChanged(("a.py",)), False),
    (HunkUndone("h1", "a.py", 1, 2), False),
    (HunkRedone("h1", "a.py", 1, 2), False),
]


@pytest.mark.parametrize(("event", "disturbs"), CHANGES, ids=lambda value: getattr(value, "type", None))
async def test_a_red_turn_says_whether_files_changed_after_it(
    event: Event, disturbs: bool, tmp_path: Path
) -> None:
    checks = Judged(tmp_path, says(GREEN), says(RED, "a", why="exit 1"))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2))
    checks.take(TurnEnded("t1", "completed"))
    checks.take(event)
    await checks.quiet.wait()
    why = "exit 1, with files that changed after the turn" if disturbs else "exit 1"
    assert checks.events[-1] == ended("red", "a", why=why)
    await checks.close()


async def test_a_hunk_that_was_there_already_changes_nothing(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "already_applied", 1, 1, 2))
    checks.take(TurnEnded("t1", "completed"))
    await checks.look()
    assert checks.events == [] and checks.judged == []
    await checks.close()


async def test_a_moved_file_is_judged_where_it_is_now(tmp_path: Path) -> None:
    checks = Judged(tmp_path, says(GREEN), says(GREEN))
    await checks.look()
    checks.take(TurnStarted(session="s", turn="t1", model="m", effort="low", input_tokens=1))
    checks.take(HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2, moved_to="b.py"))
    checks.take(TurnEnded("t1", "completed"))
    await checks.quiet.wait()
    assert checks.asked[1] == ("pytest", ["b.py"])
    await checks.close()


def test_the_event_of_a_verdict() -> None:
    verdict = Verdict(PYTEST, RED, 1.23456, (Finding("a.py", 0, "x"), Finding("b.py", 2, "y")), "exit 1")
    assert ended_event(verdict) == CheckEnded("pytest", "red", 1.235, ("a.py: x", "b.py:2: y"), "exit 1")
    assert ended_event(verdict, status="as_before", before=3).before == 3


PENDING = HunkChecked("h1", "a.py", "pytest", "pending")
WRONG = HunkChecked("h2", "b.py", "lint", "red", 1, "no")


@pytest.mark.parametrize(
    ("past", "stands"),
    [
        ([PENDING, WRONG], [PENDING, WRONG]),
        ([PENDING, WRONG, ended("green")], [ended("green"), WRONG]),
        (
            [PENDING, WRONG, CheckEnded("other", "green", 0.1)],
            [CheckEnded("other", "green", 0.1), PENDING, WRONG],
        ),
        ([PENDING, WRONG, HunkUndone("h2", "b.py", 1, 1)], [PENDING]),
        ([WRONG, replace(WRONG, status="green")], [replace(WRONG, status="green")]),
        ([ended("red", "x"), FileSaved("a.py")], []),
        ([ended("red", "x"), FileSaved("b.py")], [ended("red", "x")]),
        ([ended("green"), FileSaved("a.py")], [ended("green")]),
    ],
)
def test_what_still_stands_of_a_past_session(past: list[Event], stands: list[Event]) -> None:
    assert standing(past) == stands
