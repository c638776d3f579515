"""The signs of landed lines, and what stood in their place, in the real app."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import GREETER, stage
from tui.editor.virtual_lines import before_drawn


async def test_a_key_shows_and_hides_what_stood_before_a_hunk(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f8", "shift+f7")
        await it.until(lambda: '    return "Hello " + name' in it.screen, "the old line")
        assert "before h1" in it.screen
        old = next(line for line in it.screen.splitlines() if 'return "Hello " + name' in line)
        assert old.startswith("-")
        assert (it.root / "greeter.py").read_text() != GREETER and not it.app.shown_file.dirty
        signs = {line[0] for line in it.screen.splitlines()[1:14]}
        assert "~" in signs
        await it.pilot.press("shift+f7")
        await it.until(lambda: "before h1" not in it.screen, "the end of it")
        await it.pilot.press("shift+f7")
        await it.until(lambda: "before h1" in it.screen, "it again")
        await it.pilot.press("f2", "x")
        await it.until(lambda: "before h1" not in it.screen, "a change hides it")


def test_old_lines_stand_above_the_lines_that_replaced_them() -> None:
    lines = ["a", "NEW", "c", "d", "X", "Y"]
    drawn = before_drawn(lines, 1, "h1", [("b\n", "NEW\n"), ("x\n", "X\nY\n")])
    assert [row for row, _ in drawn] == [1, 4]
    assert [ghost.sign for ghost in drawn[0][1]] == [" ", "-"]
    gone = before_drawn(lines, 9, "h1", [("\x1b[31mold\r\n", "")])
    assert gone[0][0] == len(lines) and "\x1b" not in gone[0][1][1].spans[0][0]
