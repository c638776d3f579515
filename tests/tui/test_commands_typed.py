"""Keys and commands beside prompts: held hunks, whole turns, ``/commands`` and ``@`` completion."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import GREETER, stage

MANIFEST = """
models = ["gpt-5.3-codex-spark"]
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "manifest"
path = "requirements.txt"
lines = '''
 click
+left-pad
'''
[[scenario.step]]
say = "One dependency.\\n"
[[scenario.step]]
patch = ["manifest"]
"""


@pytest.mark.parametrize(("key", "text"), [("alt+o", "click\nleft-pad\n"), ("alt+x", "click\n")])
async def test_a_held_hunk_waits_for_a_key(tmp_path: Path, key: str, text: str) -> None:
    async with stage(tmp_path, script=MANIFEST, files={"requirements.txt": "click\n"}) as it:
        await it.ask("add it")
        await it.until(lambda: "? h1" in it.chat, "the held hunk")
        assert "left-pad" in it.chat and "Alt+O" in it.screen
        assert (it.root / "requirements.txt").read_text() == "click\n"
        await it.pilot.press(key)
        await it.done()
        assert (it.root / "requirements.txt").read_text() == text
        assert ("✓ h1" in it.chat) == (key == "alt+o")
        await it.pilot.press("alt+o")
        await it.until(lambda: "nothing is held" in it.screen, "the word that there is none")


async def test_a_whole_turn_is_undone_by_one_key(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("alt+d")
        await it.until(lambda: "↶ h1" in it.chat and "↶ h2" in it.chat, "both undone")
        assert (it.root / "greeter.py").read_text() == GREETER


async def test_commands_in_place_of_a_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        composer = it.app.composer

        async def command(text: str, told: str) -> None:
            composer.focus()
            composer.put(text)
            it.key("enter", "\r")
            await it.until(lambda: told in it.screen, told)

        await command("/lock greeter.py", "greeter.py is locked")
        await command("/lock", "locked: greeter.py")
        await command("/unlock all", "no longer locked")
        await command("/effort low", "· low")
        assert it.session.effort == "low"
        await command("/model spark-practice-text", "served by partner")
        assert composer.draft == "/model spark-practice-text", "what cannot be obeyed is given back"
        await command("/nonsense", "no command")
        assert not it.session.running


async def test_tab_behind_an_at_completes_a_path_and_goes_round_the_matches(tmp_path: Path) -> None:
    files = {"greeter.py": GREETER, "web/greeting.js": "let a;\n", "notes.md": "# Notes\n"}
    async with stage(tmp_path, files=files) as it:
        await it.until(lambda: len(it.session.files.list()) == 3, "the list of files")
        it.app.composer.focus()
        await it.pilot.press(*"explain @gre", "tab")
        first = it.app.composer.draft
        assert first == "explain @greeter.py"
        await it.until(lambda: "1 of 3" in it.screen, "how many there are")
        seen = {first}
        for _ in range(2):
            await it.pilot.press("tab")
            seen.add(it.app.composer.draft)
        assert seen == {"explain @greeter.py", "explain @web/greeting.js", "explain @greet"}
        await it.pilot.press("tab")
        assert it.app.composer.draft == first
        await it.pilot.press(*" @zzz", "tab")
        assert it.app.composer.draft == f"{first} @zzz"
        await it.pilot.press(" ", "tab")
        assert not it.app.composer.has_focus, "without a mention Tab goes to the next pane"
