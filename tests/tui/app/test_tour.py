"""The tour of the demo, pressed through on the real sample with the real partner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.partner.demo import make_sample
from session.partner.load_script import load
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tests.tui.stage import Stage, clock_of_questions, until
from tui.app.app import SparkApp
from tui.app.tour import steps, told
from tui.cli.app_commands import with_tests


@asynccontextmanager
async def demo(folder: Path, rate: float = 400.0) -> AsyncIterator[Stage]:
    root = folder / "sample"
    make_sample(root)
    async with Partner(rate=rate, scripts=load()) as partner:
        environ = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
        flags = Flags(base_url=partner.url, model="spark-practice", provider="partner", trust=True)
        session = Session(with_tests(open_project(root, flags, environ)))
        app = SparkApp(session, theme="dark", tour=True)
        with clock_of_questions() as clock:
            async with app.run_test(size=(100, 30)) as pilot:
                await until(lambda: app.ready, "the session")
                yield Stage(app, pilot, session, partner, root, clock)
                await session.close()


async def shown(it: Stage, name: str) -> None:
    """Wait for the step called ``name``."""
    line = next(told(at) for at, step in enumerate(steps()) if step.name == name)
    await it.until(
        lambda: line in " ".join(it.chat.split()) or it.app.status.status.message == line, f"the step {name}"
    )


async def test_the_tour_is_followed_to_its_end_by_the_keys_that_it_names(tmp_path: Path) -> None:
    async with demo(tmp_path) as it:
        await shown(it, "Land")
        it.key("enter", "\r")
        await shown(it, "Stop")
        it.key("escape")
        await shown(it, "Redirect")
        assert it.app.composer.draft == "only the API"
        it.key("enter", "\r")
        await shown(it, "Undo")
        assert "Then only what is for" in it.chat and "do not understand" not in it.chat
        it.key("f9")
        await shown(it, "Verdict")
        it.key("enter", "\r")
        await shown(it, "Race")
        it.key("enter", "\r")
        await shown(it, "Replay")
        last = told(len(steps()) - 1)
        await it.until(
            lambda: f"→ {last}" in " ".join(it.chat.split()), "all of it, which a narrow status line cuts"
        )
        assert it.app.status.status.message != last


async def test_an_answer_that_ended_before_it_was_stopped_is_not_redirected(tmp_path: Path) -> None:
    async with demo(tmp_path, rate=1e6) as it:
        await shown(it, "Land")
        it.key("enter", "\r")
        await shown(it, "Undo")
        assert it.app.composer.draft == ""


@pytest.mark.parametrize("at", range(len(steps())))
def test_each_step_can_be_read_and_ends(at: int) -> None:
    assert "{" not in told(at) and len(told(at)) < 130
    assert bool(steps()[at].until) == (at + 1 < len(steps()))
