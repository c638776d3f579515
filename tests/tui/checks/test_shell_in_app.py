"""Commands of the user's in the app: typed with a ``!``, seen, stopped, sent by one key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tui.stage import stage

MENDS = '''
models = ["spark-practice"]
[[scenario]]
id = "mend"
match = ["Find the cause"]

[[scenario.hunk]]
id = "mended"
path = "calc.py"
lines = """
 def add(a, b):
-    return a - b
+    return a + b
"""

[[scenario.step]]
patch = ["mended"]

[[scenario]]
id = "words"
match = ["*"]
[[scenario.step]]
say = "Just words.\\n"
'''
FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "check.py": "from calc import add\n\nassert add(1, 2) == 3, 'add is wrong'\n",
}
COMMAND = f"!{sys.executable} -B check.py"


async def test_a_failing_run_becomes_a_fix_by_two_keys(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.app.composer.put(COMMAND)
        it.key("enter")
        await it.until(
            lambda: "exit 1" in it.screen and "AssertionError: add is wrong" in it.screen, "the end"
        )
        assert "check.py:3" in it.screen and "Shift+F10 sends it to the model" in it.screen.replace("\n", " ")
        assert it.app.composer.text == "" and not it.session.running
        it.key("shift+f10")
        await it.until(lambda: "return a + b" in (it.root / "calc.py").read_text(), "the fix")
        await it.done()
        it.app.composer.put(COMMAND)
        it.key("enter")
        await it.until(lambda: "exit 0" in it.screen, "that it passes")


async def test_what_is_typed_goes_before_the_output(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.app.composer.put("!echo forty-two")
        it.key("enter")
        await it.until(lambda: "exit 0" in it.screen, "the end")
        it.app.composer.put("is this the answer?")
        it.key("shift+f10")
        await it.until(lambda: "Just words." in it.screen, "the answer")
        prompt = it.session.prompts.read()[-1]
        assert prompt.startswith("is this the answer?\n\nI ran this command") and "forty-two" in prompt
        assert it.app.composer.text == ""


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_key_ends_a_command_and_a_second_one_waits_for_the_user(tmp_path: Path, key: str) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.app.composer.put("!echo going; sleep 600")
        it.key("enter")
        await it.until(lambda: "going" in it.screen.replace("echo going", ""), "the output")
        await it.until(lambda: "● ready  your command runs; Esc ends it" in it.screen, "how to end it")
        it.app.composer.put("!true")
        it.key("enter")
        await it.until(lambda: "a command still runs; Esc ends it" in it.screen, "the refusal")
        assert it.app.composer.text == "!true", "what could not be run is put back"
        it.key(key)
        await it.until(lambda: "stopped" in it.screen and not it.session.shell.running, "the end")
        assert it.app.composer.text == "!true"


async def test_a_watch_tells_of_a_save(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        await it.session._reading.ready.wait()
        it.app.composer.focus()
        it.app.composer.put(f"/watch {sys.executable} -B check.py")
        it.key("enter")
        await it.until(lambda: "newly red: " in it.screen, "the first run")
        (it.root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
        await it.until(lambda: "newly green: " in it.screen and "all well" in it.screen, "the second run")
        it.app.composer.put("/watch off")
        it.key("enter")
        await it.until(lambda: "no longer watched" in it.screen, "the end")


async def test_the_chat_follows_a_command_though_it_was_scrolled_up(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS, size=(120, 20)) as it:
        it.app.composer.put("!seq 60")
        await it.pilot.press("enter")
        await it.until(lambda: "exit 0" in it.chat, "the end")
        await it.pilot.press("f3", "g", "f4")
        assert not it.app.chat.following
        it.app.composer.put("!echo again")
        await it.pilot.press("enter")
        await it.until(lambda: "! echo again" in it.screen, "the command")
        assert it.app.chat.following
