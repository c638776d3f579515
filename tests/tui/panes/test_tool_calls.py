"""Tool calls on the screen: told in place, held for the user's keys, stopped at a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage

CALLS = """
[[scenario]]
match = ["look"]
[[scenario.step]]
say = "I look.\\n"
[[scenario.step]]
call = [
  { tool = "search", arguments = { pattern = "def " } },
  { tool = "read", arguments = { path = "nowhere.py" } },
]
[[scenario.step]]
call = [{ tool = "run", arguments = { command = "echo begun; touch ran; sleep 600 & wait" } }]
[[scenario.step]]
say = "So much for that.\\n"
"""


async def test_calls_are_told_and_a_command_is_stopped_at_the_key(tmp_path: Path) -> None:
    async with stage(tmp_path, script=CALLS) as it:
        await it.ask("look")
        await it.until(lambda: "? run echo begun; touch ran; sleep 600 & wait" in it.chat, "the question")
        assert '→ search "def " · 2 matches in 1 file' in it.chat
        assert "✗ read nowhere.py · There is no file nowhere.py" in it.chat
        asked = "? run needs your OK"
        await it.until(lambda: asked in it.screen, "the keys")
        assert not (it.root / "ran").exists()
        await it.until(lambda: it.app.status.status.speed is None, "the end of the speed, as nothing comes")
        await it.answer("y")
        await it.until(lambda: "    begun" in it.chat, "its output")
        await it.pilot.press("escape")
        await it.done()
        assert "wait · stopped" in " ".join(it.chat.split())
        assert "    begun\n" not in it.chat
        assert "Stopped.\n" in it.chat


@pytest.mark.parametrize("key", ["n", "a"])
async def test_a_command_is_declined_or_allowed_by_a_key(tmp_path: Path, key: str) -> None:
    script = CALLS.replace(" sleep 600 & wait", " true")
    async with stage(tmp_path, script=script) as it:
        await it.ask("look")
        await it.until(lambda: "? run" in it.chat, "the question")
        await it.answer(key)
        await it.done()
        assert (it.root / "ran").exists() is (key == "a")
        assert ("· declined" in it.chat) is (key == "n")
        assert "So much for that." in it.chat and "needs your OK" not in it.screen
        speed = it.app.status.status.speed
        assert speed is not None and f"{speed:,.0f} tok/s" in it.chat


FAILS = """
[[scenario]]
match = ["look"]
[[scenario.step]]
call = [{ tool = "run", arguments = { command = "for i in 1 2 3 4 5; do echo line $i; done; exit 3" } }]
[[scenario.step]]
say = "It failed.\\n"
"""


async def test_the_end_of_what_a_failed_command_printed_stays_and_is_there_again_when_resumed(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, script=FAILS) as it:
        await it.ask("look")
        await it.until(lambda: "? run" in it.chat, "the question")
        await it.answer("y")
        await it.done()
        session = it.session.name
        first = it.chat
        assert "· exit 3 ·" in " ".join(first.split())
        assert "    line 3\n    line 4\n    line 5\n" in first and "    line 2\n" not in first
    async with stage(tmp_path, script=FAILS, resume=session) as it:
        assert "    line 3\n    line 4\n    line 5\n" in it.chat


async def test_a_tiny_terminal_still_shows_the_keys_that_answer(tmp_path: Path) -> None:
    async with stage(tmp_path, script=FAILS, size=(40, 10)) as it:
        await it.ask("look")
        await it.until(lambda: "Shift+Tab to answer" in it.screen, "the keys")
        await it.answer("n")
        await it.done()
        assert "It failed." in it.chat
