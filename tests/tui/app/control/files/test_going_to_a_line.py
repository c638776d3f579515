"""A line behind a path in the list of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import GREETER, stage
from tui.app.overlays.file_picker import split_line
from tui.editor.marks import Mark

LONG = "".join(f"line_{number} = {number}\n" for number in range(1, 301))


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("a.py", ("a.py", None)),
        ("a.py:40", ("a.py", 40)),
        ("a.py:", ("a.py", None)),
        (":7", ("", 7)),
        ("a:b", ("a:b", None)),
        ("a:b:3", ("a:b", 3)),
        ("x:" + "9" * 400, ("x", 999_999_999)),
    ],
)
def test_a_line_is_what_stands_behind_the_last_colon(typed: str, parts: tuple[str, int | None]) -> None:
    assert split_line(typed) == parts


@pytest.mark.parametrize(("typed", "row"), [("long:150", 149), ("long:99999", 300), ("long:0", 0)])
async def test_the_list_of_files_goes_to_a_line(typed: str, row: int, tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "long.py": LONG}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        await it.pilot.press("ctrl+p", *typed, "enter")
        await it.until(lambda: it.app.shown_file.path == "long.py", "the file")
        editor = it.app.editor
        await it.until(lambda: editor.cursor_location == (row, 0), "the line")
        # The pane scrolls once it has been laid out.
        await it.until(lambda: 0 <= row - editor.scroll_offset.y < editor.size.height, "the line in sight")
        if row == 149:
            middle = row - editor.size.height // 2
            await it.until(lambda: abs(editor.scroll_offset.y - middle) <= 1, "the middle of the pane")


async def test_f8_passes_over_a_hunk_whose_file_is_gone(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        it.app.shown_file.marks.set("gone.py", Mark("h9", 0, 1, "changed"))
        for hunk in ("h1", "h2", "h1"):
            it.key("f8")
            await it.until(lambda hunk=hunk: it.app.status.status.message.startswith(hunk), hunk)  # type: ignore[misc]
        it.key("f7")
        await it.until(lambda: it.app.status.status.message.startswith("h2"), "the one before the gone one")


async def test_f8_pressed_quickly_goes_as_far_through_the_files(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"a.py": LONG, "b.py": LONG}) as it:
        marks = it.app.shown_file.marks
        for path in ("a.py", "b.py"):
            for row in (9, 99, 199):
                marks.set(path, Mark(f"{path[0]}{row}", row, row + 1, "changed"))
        for _ in range(2 * 6 + 4):
            it.key("f8")
        it.key("f2")
        it.key("x", "x")
        await it.until(lambda: it.app.editor.buffer.dirty, "the letter")
        assert it.app.shown_file.path == "b.py"
        assert it.app.editor.buffer.lines[9].startswith("x"), "the first hunk there: the fourth of six"


async def test_a_line_alone_is_one_of_the_shown_file(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "long.py": LONG}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        assert await it.app.shown_file.open("long.py")
        await it.pilot.press("f2", "ctrl+p", *":42", "enter")
        await it.until(lambda: it.app.editor.cursor_location == (41, 0), "the line")
