"""The editor pane under Pilot: its text stays true, its drawing shows what is in flight."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.tui.stage import until
from themes.loader import load_theme
from tui.editor.buffers.buffer import Buffer
from tui.editor.buffers.rows import Rows, rows_between
from tui.editor.editor import EditorPane
from tui.editor.marks import Mark, Marks
from tui.editor.virtual_lines import HunkInFlight
from tui.screen.drawing.palette import Palette

LINES = [f"line_{number} = {number}" for number in range(1, 101)]


class Host(App[None]):
    """A screen with nothing but the pane."""

    CSS = "EditorPane { border: none; padding: 0; scrollbar-size: 0 0; }"

    def compose(self) -> ComposeResult:
        yield EditorPane(Palette(load_theme("dark")), Marks())


def moved(pane: EditorPane, rows: Rows) -> None:
    """What the shown file does about a change of the rows of its buffer."""
    pane.marks.edited("file.py", rows.row, len(rows.old), len(rows.new))
    pane.rows_changed(rows)


@asynccontextmanager
async def editor(text: str = "\n".join(LINES)) -> AsyncIterator[tuple[EditorPane, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = app.query_one(EditorPane)
        buffer = Buffer("file.py", lambda buffer, rows: moved(pane, rows))
        buffer.lines, buffer.read_only = text.split("\n"), False
        pane.show(buffer)
        pane.focus()
        await pilot.pause()
        yield pane, pilot


def shown(pane: EditorPane) -> list[str]:
    """The lines of the pane, without the scroll bar."""
    return [pane.render_line(y).text.rstrip("│┃ ") for y in range(pane.size.height)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a",
        "a\n",
        "a\n\n",
        "form\x0cfeed\n",
        "lone\rreturn\nx",
        "sep\u2028arator\n",
        "\ttab\n",
        "v\x0bt",
    ],
)
async def test_every_text_comes_back_as_it_was(text: str) -> None:
    async with editor(text) as (pane, pilot):
        assert pane.buffer.text == text
        pane.move_cursor((0, 0))
        await pilot.press("z")
        assert pane.buffer.text == "z" + text


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("ab\n", ["right", "x"], "axb\n"),
        ("ab\n", ["end", "enter", "c"], "ab\nc\n"),
        ("a\n", ["tab", "x"], "    xa\n"),
        ("\ta\n\tb\n", ["tab", "x"], "\tx\ta\n\tb\n"),
        ("ab\n", ["down", "ctrl+k", "x"], "ab\nx"),
        ("ab\ncd", ["down", "ctrl+x", "x"], "ab\nx"),
        ("ab", ["ctrl+shift+k", "ctrl+k", "x"], "x"),
    ],
)
async def test_the_user_types(before: str, keys: list[str], after: str) -> None:
    async with editor(before) as (pane, pilot):
        await pilot.press(*keys)
        assert pane.buffer.text == after


async def test_the_hunk_in_flight_is_drawn_between_the_lines_and_is_not_in_the_text() -> None:
    async with editor() as (pane, _):
        pane.touched = -99.0
        flight = HunkInFlight("h1", "file.py", "update")
        flight.aim = (3, 5)
        flight.feed("-", "line_3 = 3\n")
        flight.feed("-", "line_4 = 4\n")
        flight.feed("+", "line_3 = 'three'\nline_4 = 'fo")
        pane.draw_hunk(flight)
        drawn = [
            "    2 line_2 = 2",
            "-   3 line_3 = 3",
            "-   4 line_4 = 4",
            "+     line_3 = 'three'",
            "+     line_4 = 'fo",
            "    5 line_5 = 5",
        ]
        await until(lambda: shown(pane)[1:7] == drawn, "the hunk")
        assert pane.buffer.text == "\n".join(LINES)


async def test_the_view_goes_where_the_hunk_is_even_past_the_end_of_the_file() -> None:
    async with editor() as (pane, _):
        pane.touched = -99.0
        flight = HunkInFlight("h1", "file.py", "update")
        flight.aim = (100, 101)
        flight.feed(" ", "line_100 = 100\n")
        for number in range(40):
            flight.feed("+", f"new_{number} = {number}\n")
        pane.draw_hunk(flight)
        await until(lambda: any("new_39" in line for line in shown(pane)), "the end of the hunk")


async def test_a_user_at_work_is_not_moved() -> None:
    async with editor() as (pane, pilot):
        await pilot.press("down")
        flight = HunkInFlight("h1", "file.py", "update")
        flight.aim = (90, 91)
        flight.feed("+", "new\n")
        pane.draw_hunk(flight)
        await pilot.pause(0.1)
        assert shown(pane)[0].strip().startswith("1 line_1")


async def test_a_landing_above_the_view_leaves_view_and_cursor_on_their_lines() -> None:
    async with editor() as (pane, _):
        pane.move_cursor((60, 3))
        pane.scroll_to(y=55, animate=False, force=True)
        first = shown(pane)[0].split("line_")[1]
        pane.buffer.apply(rows_between(pane.buffer.lines, ["new", "new", *LINES]))
        assert shown(pane)[0].split("line_")[1] == first
        assert pane.cursor_location == (62, 3)
        assert pane.buffer.text == "\n".join(["new", "new", *LINES])


async def test_landed_lines_are_marked_and_stay_so_as_lines_come_above_them() -> None:
    async with editor() as (pane, pilot):
        pane.marks.set("file.py", Mark("h1", 4, 6))
        pane.refresh()
        assert [line[0] for line in shown(pane)[3:7]] == [" ", "▎", "▎", " "]
        await pilot.press("enter")
        assert [line[0] for line in shown(pane)[4:8]] == [" ", "▎", "▎", " "]
        pane.buffer.take_back()
        assert [line[0] for line in shown(pane)[3:7]] == [" ", "▎", "▎", " "]


async def test_code_is_coloured() -> None:
    async with editor("def f():\n    return 'x'  # why\n") as (pane, pilot):
        await pilot.pause()
        pane.render_lines(pane.size.region)
        keyword = pane.palette.style(".keyword").color
        assert any(segment.style and segment.style.color == keyword for segment in pane.render_line(1))


async def test_control_characters_in_a_file_are_shown_not_sent() -> None:
    async with editor("a\x1b[31mb\x9bc\n") as (pane, _):
        assert "\x1b" not in shown(pane)[0] and "␛" in shown(pane)[0]


async def test_wide_characters_and_tabs_keep_the_cursor_on_its_cell() -> None:
    async with editor("界\tx\n") as (pane, pilot):
        await pilot.press("right", "right")
        strip = pane.render_line(0)
        cursor = pane.palette.cursor
        at = 0
        for segment in strip:
            if segment.style is not None and segment.style.bgcolor == cursor.bgcolor:
                break
            at += segment.cell_length
        assert segment.text == "x" and at == pane.gutter_width + 4


async def test_no_bracket_is_looked_for_in_a_large_file() -> None:
    async with editor("(" + "\n" * 2000 + ")") as (pane, pilot):
        pane.move_cursor((2000, 0))
        pane.move_cursor((0, 0))
        await pilot.pause()
        assert pane._matching_bracket_location is None


async def test_a_line_is_drawn_anew_when_anything_about_it_changes() -> None:
    async with editor() as (pane, pilot):
        before = pane.render_line(2)
        assert pane.render_line(2) is before
        pane.move_cursor((2, 3))
        await pilot.pause()
        at_cursor = pane.render_line(2)
        assert at_cursor != before
        await pilot.press("x")
        typed = pane.render_line(2)
        assert typed.text != at_cursor.text and "linxe_3" in typed.text
        pane.marks.set("file.py", Mark("h1", 2, 3, "changed"))
        assert pane.render_line(2).text != typed.text
        pane.restyle(Palette(load_theme("light")))
        assert pane.render_line(3) != before and {
            segment.style.bgcolor for segment in pane.render_line(3) if segment.style
        }.isdisjoint({segment.style.bgcolor for segment in before if segment.style})
