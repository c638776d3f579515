"""Keys of one read act as if they were pressed one by one, also where one changes the pane or the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.stage import Stage, stage


def press(it: Stage, *keys: str) -> None:
    """Post keys without a pause in between."""
    for key in keys:
        it.key(key, key if len(key) == 1 else {"enter": "\r", "tab": "\t"}.get(key))


async def with_file(it: Stage) -> None:
    await it.until(it.session.files.list, "the list of files")
    press(it, "ctrl+p", *"greeter", "enter")
    await it.until(lambda: it.app.editor.path == "greeter.py", "the file")


@pytest.mark.parametrize("name", ["g", "greeter", "gree"])
async def test_a_file_is_opened_by_keys_of_one_read(tmp_path: Path, name: str) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        press(it, "h", "i", "ctrl+p", *name, "enter")
        await it.until(lambda: it.app.editor.path == "greeter.py", "the file")
        assert it.app.composer.text == "hi"


@pytest.mark.parametrize("back", [["f4"], ["f6", "f6"], ["f3", "tab"]], ids=" ".join)
async def test_text_behind_a_change_of_pane_goes_to_the_new_pane(tmp_path: Path, back: list[str]) -> None:
    async with stage(tmp_path) as it:
        await with_file(it)
        it.app.composer.focus()
        await it.pilot.pause()
        before = it.app.editor.text
        press(it, "a", "f2", "x", "y", *back, "b")
        await it.until(lambda: it.app.composer.text == "ab", "the text on both sides")
        assert sorted(it.app.editor.text) == sorted(before + "xy")


@pytest.mark.parametrize("key", ["f1", "ctrl+t"])
async def test_text_behind_the_key_that_closes_a_screen_goes_to_the_composer(
    tmp_path: Path, key: str
) -> None:
    async with stage(tmp_path) as it:
        press(it, "a", key, "q", "b", "c")
        await it.until(lambda: it.app.composer.text == "abc", "the text")
        assert len(it.app.screen_stack) == 1


async def test_a_list_that_was_opened_and_left_leaves_no_key_behind(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        press(it, "ctrl+p", "x", "ctrl+p", "o", "k")
        await it.until(lambda: it.app.composer.text == "ok", "the text")
        press(it, "ctrl+p", "a", "b")
        await it.until(lambda: len(it.app.screen_stack) == 2, "the list")
        await it.until(lambda: [each.value for each in it.app.screen.query(Input)] == ["ab"], "the letters")


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (100, 12), (40, 15), (1, 1)])
@pytest.mark.parametrize("pane", ["f2", "f3", "f4"])
async def test_shrinking_and_growing_keeps_the_focus(
    tmp_path: Path, pane: str, size: tuple[int, int]
) -> None:
    async with stage(tmp_path) as it:
        await with_file(it)
        await it.pilot.press(pane)
        focused = it.app.focused
        await it.pilot.resize_terminal(*size)
        await it.pilot.pause()
        assert it.app.focused is focused is not None
        await it.pilot.resize_terminal(120, 36)
        await it.pilot.pause()
        assert it.app.focused is focused
        assert it.app.editor.display and it.app.chat.display


async def test_going_to_an_editor_without_a_file_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(80, 12)) as it:
        await it.pilot.press("f3", "f5", "f2")
        assert it.app.focused is it.app.chat
        assert "no file is open" in it.app.status.status.message
