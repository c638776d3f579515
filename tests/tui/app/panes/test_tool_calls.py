"""Tool calls on the screen: told in place, held for the user's keys, stopped at a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from tui.chat.transcript.entries import FIRST_LINES, LAST_LINES, TAIL, CallEntry

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
        asked = "? Run `echo begun; touch ran; sleep 600 & wait`?"
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
    long = "So much for that. " + "An answer that is long enough for a speed. " * 20
    script = CALLS.replace(" sleep 600 & wait", " true").replace("So much for that.", long)
    async with stage(tmp_path, script=script) as it:
        await it.ask("look")
        await it.until(lambda: "? run" in it.chat, "the question")
        await it.answer(key)
        await it.done()
        assert (it.root / "ran").exists() is (key == "a")
        assert ("· declined" in it.chat) is (key == "n")
        assert "So much for that." in it.chat and "? Run" not in it.screen

        def told() -> bool:
            speed = it.app.status.status.speed
            return speed is not None and f"{speed:,.0f} tok/s" in it.chat

        await it.until(told, "the speed in the status line and in the chat, which is painted later")


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
        await it.until(lambda: "y allow · n decline" in it.screen, "the keys")
        await it.answer("n")
        await it.done()
        assert "It failed." in it.chat


LONG = FAILS.replace("for i in 1 2 3 4 5", "for i in $(seq 1 60)")


async def test_enter_on_a_call_shows_all_that_it_printed(tmp_path: Path) -> None:
    async with stage(tmp_path, script=LONG) as it:
        await it.ask("look")
        await it.until(lambda: "? run" in it.chat, "the question")
        await it.answer("y")
        await it.done()
        assert "    line 1\n" not in it.chat
        await it.pilot.press("f3", "left_square_bracket", "enter")
        await it.until(lambda: all(f"    line {number}\n" in it.chat for number in range(1, 61)), "all lines")
        await it.pilot.press("enter")
        await it.until(lambda: "    line 1\n" not in it.chat, "the folded call")


async def test_what_a_command_of_an_earlier_process_printed_is_told_as_gone(tmp_path: Path) -> None:
    async with stage(tmp_path, script=FAILS) as it:
        it.session.shell.run("echo one; echo two")
        await it.until(lambda: "! echo one; echo two · exit 0" in " ".join(it.chat.split()), "its end")
        session = it.session.name
    async with stage(tmp_path, script=FAILS, resume=session) as it:
        await it.pilot.press("f3", "left_square_bracket", "enter")
        await it.until(lambda: "not kept any more" in it.app.status.status.message, "the reason")
        it.session.shell.run("echo three")
        await it.until(lambda: "! echo three · exit 0" in " ".join(it.chat.split()), "the end of another")
        assert "! echo one; echo two · exit 0" in " ".join(it.chat.split()), "it has a row of its own"


def test_of_a_very_long_output_both_ends_are_unfolded() -> None:
    entry = CallEntry("run", "c1")
    entry.unfold("".join(f"line {number}\n" for number in range(FIRST_LINES + LAST_LINES + 7)))
    entry.settle(80)
    shown = ["".join(text for text, _ in row.spans).strip() for row in entry.rows]
    assert shown[1] == "line 0" and shown[-1] == f"line {FIRST_LINES + LAST_LINES + 6}"
    assert "… 7 lines are not shown …" in shown
    assert entry.toggle(0) and not entry.toggle(0)
    entry.unfold("so far\n")
    entry.become("done", "run · exit 0")
    assert not entry.unfolded, "what was unfolded while it ran is not all of it"


def test_output_that_is_cut_names_the_key_that_shows_all_of_it() -> None:
    entry = CallEntry("run make", "c1")
    entry.printed("".join(f"line {number}\n" for number in range(TAIL)))
    entry.settle(60)
    assert not any("unfolds" in row.text for row in entry.rows)
    entry.printed("the last\n")
    entry.settle(60)
    assert [row.text for row in entry.rows][1:3] == ["    … more above · o unfolds", "    line 1"]
    entry.unfold("line 0\nline 1\n")
    entry.settle(60)
    assert not any("unfolds" in row.text for row in entry.rows)
