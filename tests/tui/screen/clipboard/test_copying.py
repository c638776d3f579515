"""Copying out of the real app: into a file, and into a real tmux."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.e2e.tmux import terminal, wait_for
from tests.tui.stage import stage
from tui.screen.clipboard import MOST_BYTES, Clipboard, _into_tmux


async def test_without_a_clipboard_the_text_goes_to_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "linux")
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        await it.pilot.press("alt+k")
        file = it.session.folders.state / "copied.txt"
        await it.until(file.exists, "the file")
        assert file.read_text() == "def code() -> int:\n    return 42\n"
        assert file.stat().st_mode & 0o777 == 0o600
        await it.until(lambda: "copied.txt" in it.app.status.status.message, "what was done")


async def test_a_text_too_long_for_the_terminal_goes_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    async with stage(tmp_path) as it:
        it.app.composer.focus()
        it.app.copy_to_clipboard("x" * (MOST_BYTES + 1))
        file = it.session.folders.state / "copied.txt"
        await it.until(file.exists, "the file")
        assert it.app.clipboard == "x" * (MOST_BYTES + 1), "Ctrl+V pastes it all the same"
        it.app.copy_to_clipboard("short")
        await it.until(lambda: "sent 5 characters" in it.app.status.status.message, "what was done")


async def test_of_two_copies_the_second_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "linux")
    async with stage(tmp_path) as it:
        file = it.session.folders.state / "copied.txt"
        told: list[str] = []
        slow = threading.Event()

        def keep(text: str) -> Path:
            if text == "first":
                slow.wait(10)
            file.write_text(text)
            return file

        clipboard = Clipboard(
            it.app, lambda line, _level: told.append(line), it.app.controls.clipboard._start, keep, tmp_path
        )
        clipboard.copy("first")
        await it.pilot.pause()
        clipboard.copy("the second")
        await it.pilot.pause()
        slow.set()
        await it.until(lambda: len(told) == 2, "both copies")
        assert file.read_text() == "the second"
        assert "10 characters" in told[-1]


async def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "linux")
    async with stage(tmp_path) as it:
        (it.session.folders.state / "copied.txt").mkdir()
        it.app.copy_to_clipboard("text")
        await it.until(lambda: "cannot store the copied text" in it.app.status.status.message, "the problem")


def test_inside_tmux_the_text_is_in_its_paste_buffer(tmp_path: Path, quick_spark: Path) -> None:
    with terminal([str(quick_spark), "demo"], 100, 30, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until("ready")
        pane.type("two words")
        pane.keys("S-Home")
        pane.keys("C-c")
        wait_for(lambda: "two words" in pane.tmux("list-buffers"), "the buffer")
        assert pane.tmux("show-buffer") == "two words"
        pane.until("copied 9 characters to tmux")
        pane.keys("C-q")
        pane.until("exit 0")


async def test_a_program_of_the_project_is_not_taken_for_tmux(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "tmux"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tmux").symlink_to(trap)
    (tmp_path.parent / f"{tmp_path.name}-link").symlink_to(tmp_path)
    link, inside = f"{tmp_path.parent}/{tmp_path.name}-link", (str(tmp_path), f"{tmp_path}/bin/../bin")
    for path in (".", "", f":{os.environ['PATH']}", f".:{os.environ['PATH']}", *inside, link):
        monkeypatch.setenv("PATH", path)
        assert not await _into_tmux(b"text", tmp_path)
    assert not (tmp_path / "ran").exists()
