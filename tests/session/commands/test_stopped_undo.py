"""A stop gives up what waits for a lock of another process, and nothing of it happens later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.ledger import shared_lock
from edits.ledger.ledger import Ledger
from session.base.events import HunkLanded, HunkRedone, HunkRefused, HunkUndone, Notice
from tests.session.talking import PLAIN, talking


async def test_a_stop_gives_up_an_undo_and_a_redo_that_wait_for_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_lock, "TELL_AFTER", 0.02)
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("one\n")
    edit = Hunk(
        "a.py", Action.UPDATE, Format.V4A, (HunkLine(LineKind.OLD, "one"), HunkLine(LineKind.NEW, "two"))
    )
    async with talking(root, PLAIN) as talk:
        hunks, folder = talk.session.hunks, talk.session.folders.ledger
        landed = await hunks.land(edit)
        assert isinstance(landed, HunkLanded)
        for call, before, after in ((hunks.undo, "two\n", "one\n"), (hunks.redo, "one\n", "two\n")):
            talk.events.clear()
            with Ledger(folder).exclusive():
                waiting = asyncio.create_task(call(landed.hunk))
                await talk.until(Notice, lambda event: "waiting for process" in event.text)
                talk.session.interrupt()
                stopped = await waiting
            assert isinstance(stopped, HunkRefused) and "stopped waiting" in stopped.message
            assert (root / "a.py").read_text() == before
            assert isinstance(await call(landed.hunk), HunkUndone | HunkRedone)
            assert (root / "a.py").read_text() == after
