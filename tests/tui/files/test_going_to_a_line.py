"""A line behind a path in the list of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import GREETER, stage
from tui.overlays.file_picker import split_line

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
        top = editor.scroll_offset.y
        assert top <= row < top + editor.size.height
        if row == 149:
            assert abs(row - top - editor.size.height // 2) <= 1, "in the middle of the pane"


async def test_a_line_alone_is_one_of_the_shown_file(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "long.py": LONG}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        assert await it.app.shown_file.open("long.py")
        await it.pilot.press("f2", "ctrl+p", *":42", "enter")
        await it.until(lambda: it.app.editor.cursor_location == (41, 0), "the line")
