"""A sandbox that is cancelled at any moment, and again while it is removed, leaves no folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from session.base.storage.folders import state_folder
from session.checks.check import Check
from session.checks.runner import CheckRunner
from session.checks.sandbox.sandbox import Sandboxes
from tests.thorough import share

MOMENTS = range(40)
APART = share(1, 4)
"""How far apart the moments are that are tried; a test each begins with another one."""
LONG = f"7321.{os.getpid()}"
"""Seconds that no command of another process sleeps."""


def left() -> list[psutil.Process]:
    """The processes that checks started and that live."""
    return [each for each in psutil.process_iter(["cmdline"]) if LONG in (each.info["cmdline"] or ())]


async def cancel(task: asyncio.Task[Any], times: int) -> None:
    """Cancel ``task`` so many times, each time when it has begun to act on it, and wait for its end."""
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await asyncio.wait({task})


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("walls", [True, False])
async def test_a_sandbox_that_is_cancelled_while_it_is_made_leaves_nothing(
    walls: bool, times: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not walls:
        monkeypatch.setattr(Sandboxes, "_known_refusal", lambda _: "the test wants a copy")
    for number in range(share(200, 50)):
        (root / f"{number}.txt").write_text("text\n")
    sandboxes = Sandboxes(root, os.environ)
    for moment in MOMENTS[times::APART]:
        making = asyncio.create_task(sandboxes.make())
        for _ in range(moment):
            await asyncio.sleep(0.001 if moment % 2 else 0)
        await cancel(making, times)
        if not making.cancelled():
            await making.result().remove()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert list((state_folder() / "sandboxes").iterdir()) == []


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("walls", [True, False])
async def test_a_check_that_is_cancelled_more_than_once_leaves_nothing(
    walls: bool, times: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a race does it: a check is cancelled where it is decided, and again where all is cleared up."""
    if not walls:
        monkeypatch.setattr(Sandboxes, "_known_refusal", lambda _: "the test wants a copy")
    runner = CheckRunner(root, Sandboxes(root, os.environ), os.environ, list)
    box = state_folder() / "sandboxes"
    for moment in MOMENTS[times::APART]:
        running = asyncio.create_task(runner.run(Check("long", f"sleep {LONG}")))
        await asyncio.sleep(0.004 * moment)
        await cancel(running, times)
        assert list(box.iterdir()) == [] and not left(), moment
