"""Locks are set in the edit thread and under the ledger's lock, so the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edits.ledger.ledger import Ledger
from session.project.locks import LockError
from tests.session.talking import COLOURS, PLAIN, REPAINT, talking


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


async def test_a_lock_waits_for_a_landing_of_another_process_and_the_loop_goes_on(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        (folder,) = (root.parent / "xdg").rglob("ledger")
        with Ledger(folder).exclusive():
            locking = asyncio.create_task(talk.session.locks.lock("colours.py"))
            talk.session.submit("hello")
            await talk.ended("t1")
            assert not locking.done()
        assert await locking == "colours.py is locked"
        unlocking = asyncio.create_task(talk.session.locks.unlock("all"))
        await asyncio.sleep(0)
        assert not unlocking.done()
        assert await unlocking == "all files and lines are no longer locked"


@pytest.mark.parametrize("unlocked", [False, True])
async def test_the_known_locks_follow_the_commands_and_hold_from_then_on(root: Path, unlocked: bool) -> None:
    async with talking(root, REPAINT, attended=False) as talk:
        locks = talk.session.locks
        await locks.lock("colours.py")
        await locks.lock("colours.py:1-2")
        assert locks.known == await locks.shown() == ("colours.py", "colours.py:1-2")
        with pytest.raises(LockError):
            await locks.unlock("other.py")
        if unlocked:
            await locks.unlock("all")
            assert locks.known == await locks.shown()
        talk.session.submit("repaint it")
        await talk.ended("t1")
        assert (talk.text("colours.py") != COLOURS) == unlocked
