"""Landing while another process holds the project's ledger: said, and ended by an interrupt."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from edits.ledger import shared_lock
from session.base.events import HunkRefused, Notice, TurnEnded
from tests.edits.ledger.test_shared_lock import held, stop
from tests.session.talking import COLOURS, REPAINT, talking


async def test_an_interrupt_ends_the_wait_for_a_stopped_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_lock, "TELL_AFTER", 0.05)
    root = tmp_path / "project"
    root.mkdir()
    (root / "colours.py").write_text(COLOURS)
    async with talking(root, REPAINT) as it:
        with held(it.session.folders.ledger) as process:
            stop(process)
            it.session.submit("repaint")
            told = await it.until(Notice, lambda notice: "waiting for process" in notice.text)
            assert f"process {process.pid} (spark exec)" in told.text
            assert told.text.endswith("; Esc stops waiting")
            it.session.interrupt()
            refused = await it.until(HunkRefused)
            assert "stopped waiting" in refused.message
            assert (await it.until(TurnEnded)).status == "interrupted"
            assert it.text("colours.py") == COLOURS


async def test_a_session_opens_while_a_stopped_process_holds_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.project.workspace.LONGEST_WAIT", 0.1)
    root = tmp_path / "project"
    root.mkdir()
    async with talking(root, REPAINT) as first:
        folder = first.session.folders.ledger
    with held(folder) as process:
        stop(process)
        async with talking(root, REPAINT) as it:
            told = await it.until(Notice, lambda notice: "edits have to wait" in notice.text)
            assert str(process.pid) in told.text


def test_undo_says_for_whom_it_waits(tmp_path: Path, quick_spark: Path, own_folders: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n"
    subprocess.run([quick_spark, "apply"], input=patch, text=True, cwd=tmp_path, check=True)
    (lock,) = own_folders.glob("state/spark/projects/*/ledger/lock")
    with held(lock.parent) as process:
        undo = subprocess.Popen([quick_spark, "undo"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        assert undo.stderr is not None
        line = undo.stderr.readline()
        assert f"waiting for process {process.pid} (spark exec)" in line
    assert undo.wait(60) == 0
    assert not (tmp_path / "a.txt").exists()
