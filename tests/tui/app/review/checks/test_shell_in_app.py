"""Commands of the user's in the app: typed with a ``!``, seen, stopped, sent by one key."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.tui.stage import Stage, stage

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


async def echo(it: Stage) -> None:
    """Type a command, and wait for its end."""
    it.app.composer.focus()
    it.app.composer.put("!echo forty-two")
    it.key("enter")
    await it.until(lambda: "exit 0" in it.screen, "the end")


async def test_what_is_typed_goes_before_the_output(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        await echo(it)
        it.app.composer.put("is this the answer?")
        it.key("shift+f10")
        await it.until(lambda: "Just words." in it.screen, "the answer")
        assert it.partner is not None
        sent = str(it.partner.requests[-1].body["input"])
        assert "is this the answer?\\n\\nI ran this command" in sent and "forty-two" in sent
        assert it.session.prompts.read() == ["!echo forty-two", "is this the answer?"]
        assert it.app.composer.text == ""


async def test_a_command_is_in_the_history_after_a_restart_where_it_could_be_run(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        await echo(it)
        it.app.composer.put("!" + "x" * 30_000)
        it.key("enter")
        await it.until(lambda: "put it into a script" in it.screen, "the refusal")
        it.app.composer.clear()
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.key("up")
        await it.until(lambda: it.app.composer.draft == "!echo forty-two", "the command")
        assert it.session.prompts.read() == ["!echo forty-two"]


HOSTILE = {
    "a clipboard and a title": r"printf '\033]52;c;aGk=\007\033]0;gone\033\\'",
    "DCS, APC and a reset": r"printf '\033P+q544e\033\\\033_x\033\\\033c\033[2J'",
    "C1 controls": r"printf '\302\2331m\302\220q\302\235 0;x\302\234\233\220'",
    "binary": "head -c 300000 /dev/urandom",
    "marks that reorder, and a lone surrogate": r"printf '\342\200\256evil\355\240\200\342\200\213'",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_a_command_prints_is_only_shown(tmp_path: Path, name: str) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.app.composer.put(f"!{HOSTILE[name]}; echo; echo the end")
        it.key("enter")
        await it.pilot.resize_terminal(60, 20)
        await it.until(lambda: "exit 0" in it.chat.replace("\n", " "), "the end")
        await it.pilot.resize_terminal(140, 40)
        await it.until(lambda: "exit 0" in it.chat and "the end" in it.screen, "it drawn anew")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", it.screen)
        assert it.app.title != "gone" and it.app.clipboard == ""


DAEMON = "import subprocess as s; print(s.Popen(['sleep', '987'], start_new_session=True).pid)"


async def test_more_output_than_is_kept_and_a_daemon_are_ended_and_keys_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        daemon = f'{sys.executable} -c "{DAEMON}" > daemon.pid'
        it.app.composer.put(f"!{daemon}; head -c 300000000 /dev/zero | tr '\\0' x")
        it.key("enter")
        await it.pilot.press("o", "k")
        await it.until(lambda: it.app.composer.text == "ok", "keys while it prints")
        await it.until(lambda: "it printed more than 200 MB" in " ".join(it.chat.split()), "the end")
        process = Path("/proc") / (it.root / "daemon.pid").read_text().strip()
        await it.until(lambda: not process.exists(), "the end of what it left behind")


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


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_the_key_is_answered_at_once_where_a_command_ignores_it(tmp_path: Path, key: str) -> None:
    stubborn = "import signal,time; signal.signal(15, 1); print(1, flush=True); time.sleep(600)"
    async with stage(tmp_path, files=FILES, script=MENDS) as it:
        it.app.composer.focus()
        it.app.composer.put(f'!{sys.executable} -c "{stubborn}" && echo went on')
        it.key("enter")
        await it.until(lambda: "    1" in it.screen, "the output")
        it.key(key)
        await it.until(lambda: "ending your command and all that it started" in it.screen, "the answer")
        assert it.session.shell.running, "it has half a second"
        await it.until(lambda: "· stopped" in it.screen and not it.session.shell.running, "the end")
        assert it.app.status.status.message == ""


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
