"""Checks that follow the hunks of a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from session.base.events import Event, FileSaved, FilesChanged, HunkChecked, HunkUndone
from session.checks.check import Check, Kind
from session.checks.finding import LandedHunk, Status, Verdict
from session.checks.red import RedNow
from tests.session.checks.following import LINT, Followed, landed, started, turn_ended


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("one\ntwo\nwrong from the start\n")
    return tmp_path


async def test_a_hunk_is_judged_while_the_turn_runs(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.take(started())
    followed.linter.go.release()
    await followed.asked(1)
    await asyncio.sleep(0.01)
    (root / "a.py").write_text("one\nwrong now\nwrong from the start\n")
    followed.take(landed("h1", 1))
    followed.take(landed("h2", 2))
    followed.linter.go.release()
    first, second = await followed.told(2)
    assert first == HunkChecked("h1", "a.py", "lint", "green")
    assert second == HunkChecked("h2", "a.py", "lint", "red", 2, "wrong now")
    assert followed.linter.asked == [("lint", None), ("lint", ["a.py"])]
    await followed.close()


async def test_all_that_is_wrong_in_a_hunk_is_told(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong here\nand\nwrong there: too\n")
    followed.places["h1"] = LandedHunk("h1", "a.py", 1, 4)
    followed.take(landed("h1", 1))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert event == HunkChecked("h1", "a.py", "lint", "red", 1, "wrong here", ("3: wrong there: too",))
    assert RedNow([event]).request().splitlines()[2:-1] == [
        "- a.py:1: wrong here (lint)",
        "- a.py:3: wrong there: too (lint)",
    ]
    await followed.close()


async def test_a_hunk_whose_file_changes_under_the_check_is_judged_again(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong\n")
    followed.take(landed("h1", 1))
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
    followed.take(started())
    await followed.asked(1)
    followed.take(landed("h1", 1))
    followed.linter.go.release()
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, HunkChecked) and event.status == "green", "line 3 was wrong from the start"
    await followed.close()


async def test_a_hunk_is_checked_beside_the_first_look_and_judged_after_it(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.take(started())
    await followed.asked(1)
    (root / "a.py").write_text("one\nwrong now\nwrong from the start\n")
    followed.take(landed("h2", 2))
    await followed.asked(2)
    assert followed.linter.asked == [("lint", None), ("lint", ["a.py"])] and followed.events == []
    followed.linter.go.release()
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, HunkChecked) and (event.status, event.line) == ("red", 2)
    await followed.close()


async def test_the_look_is_taken_once_for_a_project_that_stays_as_it_is(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.hunks.look_ahead()
    followed.linter.go.release()
    await followed.asked(1)
    followed.take(started())
    (root / "a.py").write_text("one\nwrong now\nwrong from the start\n")
    followed.take(landed("h2", 2))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, HunkChecked) and (event.status, event.line) == ("red", 2)
    assert followed.linter.asked == [("lint", None), ("lint", ["a.py"])]
    await followed.close()


@pytest.mark.parametrize(("changed", "looks"), [("a.py", 1), ("b.py", 2)])
async def test_a_turn_is_looked_back_at_when_it_ends_and_again_where_something_else_changed(
    root: Path, changed: str, looks: int
) -> None:
    followed = Followed(root, LINT)
    (root / "b.py").write_text("two\n")
    followed.take(landed("h1", 1))
    followed.take(turn_ended())
    for _ in range(2):
        followed.linter.go.release()
    await followed.asked(2)
    await asyncio.wait_for(followed.hunks.settled(), 5)
    if changed == "b.py":
        (root / "b.py").write_text("wrong by hand\n")
    followed.take(FilesChanged((changed,)))
    followed.take(started())
    await asyncio.wait_for(followed.hunks.settled(), 5)
    if looks == 2:
        followed.linter.go.release()
        await asyncio.wait_for(followed.looked(), 5)
    followed.take(landed("h2", 1, "b.py"))
    followed.linter.go.release()
    (_, event) = await followed.told(2)
    assert isinstance(event, HunkChecked) and event.status == "green"
    assert followed.linter.asked.count(("lint", None)) == looks
    await followed.close()


async def test_a_red_hunk_stays_red_in_a_later_turn_that_mends_something_else(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("one\ntwo\nwrong\n")
    followed.take(landed("h1", 3))
    followed.linter.go.release()
    (event,) = await followed.told(1)
    assert isinstance(event, HunkChecked) and event.status == "red"
    followed.take(started())
    followed.linter.go.release()
    await followed.asked(2)
    (root / "a.py").write_text("mended\ntwo\nwrong\n")
    followed.take(landed("h2", 1))
    followed.linter.go.release()
    told = {event.hunk: event.status for event in await followed.told(2) if isinstance(event, HunkChecked)}
    assert told == {"h1": "red", "h2": "green"}
    await followed.close()


async def test_a_red_hunk_turns_green_when_a_later_one_mends_it(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong\n")
    followed.take(landed("h1", 1))
    followed.linter.go.release()
    (first,) = await followed.told(1)
    assert isinstance(first, HunkChecked) and first.status == "red"
    (root / "a.py").write_text("right\nmore\n")
    followed.take(landed("h2", 2))
    followed.linter.go.release()
    assert await followed.told(2) == [
        HunkChecked("h1", "a.py", "lint", "green"),
        HunkChecked("h2", "a.py", "lint", "green"),
    ]
    await followed.close()


async def test_files_that_a_check_is_not_about_are_not_judged_by_it(root: Path) -> None:
    followed = Followed(root, LINT)
    followed.take(landed("h1", 1, "notes.md"))
    await asyncio.sleep(0.02)
    assert followed.linter.asked == [] and followed.events == []
    await followed.close()


async def test_a_finding_goes_to_the_hunk_that_has_moved_there(root: Path) -> None:
    """A hunk that lands above another moves it down: the red one must not be taken for mended."""
    followed = Followed(root, LINT)
    (root / "a.py").write_text("one\nwrong\n")
    followed.take(landed("h1", 2))
    followed.linter.go.release()
    (first,) = await followed.told(1)
    assert isinstance(first, HunkChecked) and (first.hunk, first.status) == ("h1", "red")
    (root / "a.py").write_text("new\n" * 20 + "one\nwrong\n")
    followed.places["h1"] = LandedHunk("h1", "a.py", 22, 23)
    followed.places["h2"] = LandedHunk("h2", "a.py", 1, 21)
    followed.take(landed("h2", 1))
    followed.linter.go.release()
    told = {event.hunk: event.status for event in await followed.told(2) if isinstance(event, HunkChecked)}
    assert told == {"h1": "red", "h2": "green"}
    await followed.close()


@pytest.mark.parametrize(
    "event", [FilesChanged(("a.py",)), FileSaved("a.py"), HunkUndone("h9", "a.py", 1, 2)]
)
async def test_a_red_hunk_is_judged_again_when_its_file_is_changed_otherwise(
    root: Path, event: Event
) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").write_text("wrong\n")
    followed.take(landed("h1", 1))
    followed.linter.go.release()
    await followed.told(1)
    followed.take(event)
    await asyncio.sleep(0.02)
    assert len(followed.linter.asked) == 1, "its file is as it was"
    (root / "a.py").write_text("mended by hand\n")
    followed.take(event)
    followed.linter.go.release()
    assert await followed.told(1) == [HunkChecked("h1", "a.py", "lint", "green")]
    await followed.close()


async def test_a_hunk_stays_red_with_one_check_when_another_is_green(root: Path) -> None:
    other = Check("other", "other {files}", Kind.SYNTAX, files=("*.txt", "a.py"))
    followed = Followed(root, LINT, other)
    judge = followed.linter.judge

    async def only_lint(check: Check, changed: Sequence[str] | None) -> Verdict:
        verdict = await judge(check, changed)
        return verdict if check is LINT else Verdict(check, Status.GREEN, 0.0)

    followed.hunks._judge = only_lint
    (root / "a.py").write_text("wrong\n")
    followed.take(landed("h1", 1))
    for _ in range(2):
        followed.linter.go.release()
    await followed.told(2)
    (root / "a.py").write_text("mended\n")
    followed.take(FileSaved("a.py"))
    for _ in range(2):
        followed.linter.go.release()
    told = await followed.told(2)
    assert {event.check: event.status for event in told if isinstance(event, HunkChecked)} == {
        "lint": "green",
        "other": "green",
    }
    await followed.close()


async def test_a_deleted_file_is_not_handed_to_a_check(root: Path) -> None:
    followed = Followed(root, LINT)
    (root / "a.py").unlink()
    followed.take(landed("h1", 1))
    await asyncio.wait_for(followed.hunks.settled(), 5)
    assert followed.linter.asked == [] and followed.events == []
    await followed.close()
