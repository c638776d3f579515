"""The first frame before there is a session, and what is typed into it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from session.base.storage.private_files import StoreError
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import Opening, open_project
from tests.tui.stage import TWO_HUNKS
from tui.app.app import SparkApp
from tui.app.pending_session import PendingSession, first_frame_of


def opened(folder: Path, url: str | None = None) -> Opening:
    root = folder / "project"
    root.mkdir(exist_ok=True)
    return open_project(root, Flags(base_url=url), {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"})


async def until(true: Callable[[], object]) -> None:
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came")


async def shown(pilot: Pilot[int], text: str) -> None:
    app = pilot.app
    await until(lambda: text in "\n".join(each.text for each in app.screen._compositor.render_strips()))


async def test_keys_are_shown_before_the_session_is_there_and_enter_waits_for_it(tmp_path: Path) -> None:
    partner = Partner(rate=1000.0, scripts=parse(TWO_HUNKS))
    await partner.serve()
    opening, come = opened(tmp_path, partner.url), threading.Event()

    def make() -> Session:
        come.wait(30)
        return Session(opening)

    app = SparkApp(PendingSession(first_frame_of(opening), make), theme="dark")
    async with app.run_test(size=(100, 30)) as pilot:
        app.status.say("")
        for key in ("j", "u", "s", "t", "space", "t", "a", "l", "k"):
            app.post_message(_key(key))
        await shown(pilot, "just talk")
        app.post_message(_key("enter"))
        for key in ("n", "e", "x", "t"):
            app.post_message(_key(key))
        for _ in range(50):
            await asyncio.sleep(0)
        assert app.composer.text == "just talk" and not app.ready
        come.set()
        await until(lambda: app.ready and app.session.running)
        await until(lambda: app.composer.text == "next")
        await shown(pilot, "just talk")
        await until(lambda: not app.session.running)
        await app.session.close()
    await partner.close()


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (StoreError("cannot read [bold]sessions/x.jsonl: no"), 3),
        (PermissionError(13, "Permission denied", "/state/ledger"), 1),
    ],
)
async def test_a_session_that_cannot_be_made_ends_the_app_with_a_line(
    tmp_path: Path, problem: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def make() -> Session:
        raise problem

    app = SparkApp(PendingSession(first_frame_of(opened(tmp_path)), make), theme="dark")
    async with app.run_test() as pilot:
        await until(lambda: app.return_code is not None)
        del pilot
    assert app.return_code == code
    told = capsys.readouterr().err
    assert told.startswith("spark: ") and ("[bold]sessions" in told or "/state/ledger: Permission" in told)


async def test_a_draft_typed_before_the_session_is_there_is_kept(tmp_path: Path) -> None:
    opening, come = opened(tmp_path), threading.Event()

    def make() -> Session:
        come.wait(30)
        return Session(opening)

    app = SparkApp(PendingSession(first_frame_of(opening), make), theme="dark")
    async with app.run_test() as pilot:
        await pilot.hover("#chat")
        for key in ("d", "r", "a", "f", "t"):
            app.post_message(_key(key))
        await until(lambda: app.composer.draft == "draft")
        come.set()
        await until(lambda: app.ready)
        assert app.session.draft.read() == "draft"
        await app.session.close()


def _key(name: str) -> events.Key:
    return events.Key(name, {"space": " ", "enter": "\r"}.get(name, name))
