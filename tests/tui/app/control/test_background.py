"""Background work that fails: told in a line, logged, and the app goes on or ends in a line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.base.events import Event, Notice
from session.base.storage.error_log import LOGGER, log_faults_to
from session.session import Session
from tests.tui.app.test_pending_session import opened, until
from tests.tui.stage import stage
from tui.app.app import SparkApp
from tui.app.control import background
from tui.app.control.background import BackgroundTasks
from tui.app.pending_session import PendingSession, first_frame_of


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The file that faults are logged to."""
    log_faults_to(tmp_path / "errors.log")
    yield tmp_path / "errors.log"
    logger = logging.getLogger(LOGGER)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True


async def fails() -> None:
    secret = "sk-local-variable"
    raise ValueError(f"odd [bold]input of {len(secret)}")


async def test_a_task_that_fails_is_told_in_a_line_and_logged_and_the_app_goes_on(
    tmp_path: Path, log: Path
) -> None:
    async with stage(tmp_path) as it:
        it.app.background.start(fails(), "trying it")
        told = "spark itself failed while trying it (ValueError: odd [bold]input of 17)"
        await it.until(lambda: told in it.screen, "the fault")
        written = log.read_text()
        assert "failed while trying it" in written and "Traceback" in written and "sk-local" not in written
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk." in it.chat


async def test_a_fault_while_an_event_is_shown_costs_that_event_alone(tmp_path: Path, log: Path) -> None:
    async with stage(tmp_path) as it:
        take = it.app.feed.take

        def breaks(event: Event) -> None:
            if isinstance(event, Notice):
                raise KeyError(event.text)
            take(event)

        it.app.feed.take = breaks  # type: ignore[method-assign]
        it.session._recorder.publish(Notice(level="info", text="the one that breaks"))
        await it.until(lambda: "failed while showing what happened" in it.screen, "the fault")
        assert "the one that breaks" in log.read_text()
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk." in it.chat


async def test_a_session_that_fails_to_be_made_ends_the_app_in_a_line(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def make() -> Session:
        raise RuntimeError("nobody thought of this")

    app = SparkApp(PendingSession(first_frame_of(opened(tmp_path)), make), theme="dark")
    async with app.run_test():
        await until(lambda: app.return_code is not None)
    assert app.return_code == 1
    told = "".join(capsys.readouterr().err.split())
    line = "spark: spark itself failed while making the session (RuntimeError: nobody thought of this)"
    assert told == f"{line}; details are in {log}".replace(" ", "")
    assert "Traceback" in log.read_text()


async def test_a_fault_in_a_handler_ends_the_app_in_a_line_without_local_variables(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken_handler() -> None:
        await fails()

    with pytest.raises(ValueError, match="odd"):
        async with stage(tmp_path) as it:
            it.app.call_later(broken_handler)
            await it.until(lambda: not it.app.is_running, "the end")
    told = " ".join(capsys.readouterr().err.split())
    assert "(ValueError: odd [bold]input of 17)" in told
    assert "Traceback" not in told and "sk-local" not in told
    assert "Traceback" in log.read_text()


async def test_tasks_are_cancelled_by_name_and_at_the_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "log_file", lambda: None)  # another test's session may have named one
    told: list[str] = []
    tasks = BackgroundTasks(lambda line, level: told.append(f"{level}: {line}"))
    ended: list[str] = []

    async def waits(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    tasks.start(waits("first"), "wait")
    await asyncio.sleep(0)
    tasks.restart(waits("second"), "wait")
    tasks.start(waits("other"), "wait longer")
    await asyncio.sleep(0)
    assert ended == ["first"]
    await tasks.close()
    assert sorted(ended[1:]) == ["other", "second"] and told == []
    with caplog.at_level(logging.ERROR):
        tasks.start(fails(), "trying it")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert told == ["error: spark itself failed while trying it (ValueError: odd [bold]input of 17)"]
    assert "failed while trying it" in caplog.text


async def test_once_the_screen_goes_away_nothing_begins_and_all_but_the_caller_ends() -> None:
    told: list[str] = []
    ran: list[str] = []
    tasks = BackgroundTasks(lambda line, _: told.append(line))

    async def work(name: str, over: asyncio.Event | None = None) -> None:
        if over is not None:
            await over.wait()
        ran.append(name)

    async def leave() -> None:
        tasks.stop()
        tasks.start(work("late"), "late")
        await asyncio.sleep(0)
        ran.append("left")

    tasks.start(work("waiting", asyncio.Event()), "waiting")
    tasks.start(leave(), "leaving")
    while "left" not in ran:
        await asyncio.sleep(0)
    await tasks.close()
    assert ran == ["left"] and told == []
