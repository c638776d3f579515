"""Keys that close a screen, several in one read: each finds the screen that the one before it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from tui.app import session_start

AT_ONCE: list[tuple[list[str], str]] = [
    (["f1", "x", "y"], ""),
    (["f1", "enter", "enter"], ""),
    (["f1", "f1", "f1"], ""),
    (["f1", "escape", "escape", "a"], "a"),
    (["ctrl+p", "enter", "enter"], ""),
    (["ctrl+p", "escape", "escape"], ""),
    (["ctrl+p", "ctrl+p", "ctrl+p", "ctrl+p"], ""),
    (["ctrl+t", "q", "q", "q"], "qq"),
    (["ctrl+t", "escape", "escape"], ""),
    (["ctrl+t", "ctrl+t", "ctrl+t"], ""),
    (["ctrl+t", "enter", "enter", "enter"], ""),
    (["ctrl+t", "a", "enter", "enter", "escape", "escape"], ""),
]
"""Keys in one read, and the letters that they may type."""


async def test_keys_that_come_at_once_never_end_the_app(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for keys, typed in AT_ONCE:
            for key in keys:
                it.key(key, key if len(key) == 1 else None)
            await it.pilot.pause()
            await it.pilot.pause(0.2)
            assert it.app.is_running, keys
            # Whatever is still open closes, and the app takes keys.
            for _ in range(3):
                await it.pilot.press("escape")
            await it.until(lambda: len(it.app.screen_stack) == 1, f"the panes after {keys}")
            assert it.app.focused is not None, keys
            assert set(it.app.composer.text) <= set(typed), "no key may type what it is not"
            it.app.composer.put("")
            it.app.composer.focus()
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk" in it.chat


async def test_escape_acts_where_there_is_something_to_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There ESC and a letter in one read are Esc and the letter; elsewhere they may be Alt and the letter."""
    monkeypatch.setattr(session_start, "JUST_ENDED", 3600.0)
    async with stage(tmp_path) as it:
        acts = it.app.start._esc_acts
        assert not acts()
        await it.ask("just talk")
        await it.done()
        assert acts(), "Esc may have been meant for the turn that has just ended"
        monkeypatch.setattr(session_start, "JUST_ENDED", 0.0)
        for opening in (["f1"], ["ctrl+p"], ["/", "h"], ["f3", "v"], ["f3", "slash"]):
            await it.until(lambda: not acts(), f"nothing to close before {opening}")
            for key in opening:
                it.key(key, "/" if key == "slash" else key if len(key) == 1 else None)
            await it.until(acts, f"something to close after {opening}")
            for _ in range(3):
                await it.pilot.press("escape")
            it.app.composer.put("")
            it.app.composer.focus()
            await it.pilot.pause()
