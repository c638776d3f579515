"""Background tasks: each fault is logged and told in one line, and the session goes on."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from pathlib import Path

import pytest

from session.base.events import Event, Notice, TurnEnded
from session.base.tasks import BackgroundTasks, imported
from tests.session.talking import COLOURS, PLAIN, REPAINT, talking
from tui.front.event_loop import run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


async def broken() -> None:
    raise KeyError("nowhere")


async def test_a_task_that_raises_is_told_in_one_line_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Event] = []
    tasks = BackgroundTasks(told.append)
    task = tasks.start(broken(), "counting sheep", consequence="nobody sleeps")
    await asyncio.wait({task})
    await tasks.close()
    line = "spark itself failed while counting sheep (KeyError: 'nowhere'); nobody sleeps"
    assert told == [Notice("error", line)]
    (record,) = [each for each in caplog.records if each.name == "spark.session"]
    assert record.exc_info is not None


async def test_a_task_that_ends_or_is_cancelled_is_not_told() -> None:
    told: list[Event] = []
    tasks = BackgroundTasks(told.append)
    assert await tasks.start(asyncio.sleep(0, "slept"), "sleeping") == "slept"
    endless = tasks.start(asyncio.Event().wait(), "waiting for ever")
    await tasks.close()
    assert endless.cancelled() and told == []


async def test_nothing_begins_once_the_tasks_are_closed() -> None:
    done: list[str] = []

    async def late() -> None:
        done.append("begun")

    tasks = BackgroundTasks(lambda event: None)
    await tasks.close()
    task = tasks.start(late(), "being late")
    await asyncio.wait({task})
    assert task.cancelled() and done == []


async def test_a_fault_that_only_the_event_loop_sees_is_told_and_logged(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    async with talking(root, PLAIN) as talk:
        loop.call_soon(_break)
        told = await talk.until(Notice, lambda event: "a callback broke" in event.text)
        assert told.level == "error"
        # Nobody waits for this task, and nobody keeps it.
        asyncio.create_task(broken(), name="counting sheep")  # noqa: RUF006
        await asyncio.sleep(0)
        await asyncio.to_thread(gc.collect)
        told = await talk.until(Notice, lambda event: "nowhere" in event.text)
        assert told.text == "spark itself failed while running counting sheep (KeyError: 'nowhere')"
        talk.session.submit("hello")
        assert (await talk.ended("t1")).status == "completed"
    assert len([record for record in caplog.records if record.exc_info]) == 2
    assert loop.get_exception_handler() is None


def _break() -> None:
    raise RuntimeError("a callback broke")


async def test_a_session_whose_project_reading_dies_says_so_and_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def die(*_: object) -> None:
        raise RuntimeError("the parser is out of order")

    monkeypatch.setattr("context.project.project.Project.scan", die)
    async with talking(root, PLAIN) as talk:
        notice = await talk.until(Notice, lambda event: event.level == "error")
        assert "failed while reading the project (RuntimeError: the parser is out of order)" in notice.text
        talk.session.submit("hello")
        assert (await talk.ended("t1")).status == "completed"
    assert any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("method", ["_one_response", "_owed", "_close_lane", "_settle_accounts"])
async def test_a_fault_in_a_turn_ends_it_as_failed_and_the_next_turn_works(
    root: Path, monkeypatch: pytest.MonkeyPatch, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def die(*_: object) -> None:
        raise ZeroDivisionError("a wheel came off")

    async with talking(root, PLAIN) as talk:
        with monkeypatch.context() as patched:
            patched.setattr(f"session.turn.runner.Runner.{method}", die)
            talk.session.submit("hello")
            ended = await talk.ended("t1")
        assert (ended.status, ended.code) == ("failed", "internal")
        assert ended.message is not None and "(ZeroDivisionError: a wheel came off)" in ended.message
        talk.session.submit("once more")
        assert (await talk.ended("t2")).status == "completed"
    assert len(talk.all(TurnEnded)) == 2
    assert any(record.exc_info for record in caplog.records)


async def test_a_turn_that_is_cancelled_from_within_ends_as_failed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled(*_: object) -> None:
        raise asyncio.CancelledError

    async with talking(root, PLAIN) as talk:
        with monkeypatch.context() as patched:
            patched.setattr("session.turn.runner.Runner._one_response", cancelled)
            talk.session.submit("hello")
            ended = await talk.ended("t1")
        assert (ended.status, ended.code) == ("failed", "internal")
        talk.session.submit("once more")
        assert (await talk.ended("t2")).status == "completed"


async def test_a_queued_prompt_is_answered_though_the_work_before_it_broke(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise RuntimeError("no summary today")

    monkeypatch.setattr("session.commands.compaction_commands.CompactionCommands._wants_summary", die)
    async with talking(root, REPAINT, rate=400) as talk:
        talk.session.submit("repaint it")
        talk.session.queue("what did you do?")
        await talk.ended("t1")
        assert (await talk.ended("t2")).status == "completed"
        await talk.until(Notice, lambda event: "no summary today" in event.text)


def test_the_end_of_spark_does_not_wait_for_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # The module is found, and its first line waits for the test.
    (tmp_path / "slow_to_import.py").write_text("import sys\nsys.slow_import.wait()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "slow_import", goes_on := threading.Event(), raising=False)
    waits: list[asyncio.Task[None]] = []

    async def begin() -> None:
        waits.append(asyncio.create_task(imported("slow_to_import")))
        while "slow_to_import" not in sys.modules:
            await asyncio.sleep(0.01)

    run(begin(), 0.1)
    goes_on.set()
    assert waits[0].cancelled() and not caplog.records


async def test_an_import_that_fails_is_raised() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        await imported("no_such_module_anywhere")


def test_a_worker_thread_that_is_left_behind_is_named(caplog: pytest.LogCaptureFixture) -> None:
    goes_on, begun = threading.Event(), threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    def sticks() -> None:
        begun.set()
        goes_on.wait()

    async def begin() -> None:
        loops.append(asyncio.get_running_loop())
        loops[0].run_in_executor(None, sticks)
        while not begun.is_set():
            await asyncio.sleep(0.01)

    run(begin(), 0.1)
    goes_on.set()
    loops[0].run_until_complete(asyncio.wait(asyncio.all_tasks(loops[0])))  # what was left behind ends now
    loops[0].close()
    (record,) = caplog.records
    assert record.getMessage().endswith("worker threads (tests.session.base.test_tasks.sticks)")
