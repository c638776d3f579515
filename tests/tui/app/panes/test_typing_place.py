"""Where typing goes while the view follows a hunk, and how closing brackets find their level."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.app.panes.test_editor import LINES, editor, shown
from tests.tui.stage import GREETER, POLITE, stage
from tui.editor.editor import HANDS_OFF
from tui.editor.keys import bracket_level
from tui.editor.virtual_lines import HunkInFlight

STALLS = (
    POLITE
    + """
[[scenario.step]]
patch = ["greet"]
tokens = 30

[[scenario.step]]
stall = 60.0
"""
)


def in_flight(line: int) -> HunkInFlight:
    flight = HunkInFlight("h1", "file.py", "update")
    flight.feed("+", "coming = 1\n")
    flight.aim = (line, line)
    return flight


async def test_typing_goes_to_the_hunk_that_is_watched() -> None:
    async with editor() as (pane, pilot):
        pane.draw_hunk(in_flight(71))
        await pilot.pause()
        assert "line_71 = 71" in "\n".join(shown(pane))
        await pilot.press("#")
        assert pane.selected[1] == (70, 1) and pane.buffer.lines[70] == "#line_71 = 71"
        assert pane.buffer.lines[0] == LINES[0]


async def test_typing_stays_where_the_user_put_the_cursor() -> None:
    async with editor() as (pane, pilot):
        await pilot.press("down", "a")
        pane.touched = -HANDS_OFF
        pane.draw_hunk(in_flight(71))
        await pilot.pause()
        assert "line_71 = 71" in "\n".join(shown(pane))
        await pilot.press("b")
        assert pane.buffer.lines[1] == "abline_2 = 2"


async def test_typing_in_the_first_flight_of_the_real_app(tmp_path: Path) -> None:
    files = {"greeter.py": "".join(f"# {number}\n" for number in range(200)) + GREETER}
    async with stage(tmp_path, files=files, script=STALLS, size=(120, 24)) as it:
        await it.ask("make it polite")
        await it.until(lambda: "+" in {row[:1] for row in it.screen.split("\n")}, "the hunk in flight")
        await it.pilot.press("f2", "#")
        assert it.app.editor.buffer.lines[0] == "# 0" and it.app.editor.selected[1][0] > 200


async def test_a_closing_bracket_finds_its_level() -> None:
    async with editor("function f() {\n  if (x) {\n    y();\n    ") as (pane, pilot):
        await pilot.press("ctrl+end", "}", "enter", "}")
        assert pane.buffer.lines[3:] == ["  }", "}"]
        await pilot.press("x", ")")
        assert pane.buffer.lines[-1].endswith("x)")


@given(st.text("([{)]} ab", max_size=30), st.sampled_from(")]}"))
def test_a_level_is_that_of_a_line_that_opens(before: str, bracket: str) -> None:
    lines = [f"{' ' * at}{letter}" for at, letter in enumerate(before)]
    level = bracket_level(lines, len(lines), bracket)
    opening = {")": "(", "]": "[", "}": "{"}[bracket]
    if level is not None:
        assert lines[len(level)].lstrip() == opening or before[len(level)] == opening
    else:
        assert before.count(opening) <= before.count(bracket)
