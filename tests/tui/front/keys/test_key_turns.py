"""Keys of one read act as if they were pressed one by one, also where one changes the pane or the screen."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from tests.tui.stage import Stage, stage
from tui.front.keys import key_order


def press(it: Stage, *keys: str) -> None:
    """Post keys without a pause in between."""
    for key in keys:
        it.key(key, key if len(key) == 1 else {"enter": "\r", "tab": "\t"}.get(key))


async def with_file(it: Stage) -> None:
    await it.until(it.session.files.list, "the list of files")
    press(it, "ctrl+p", *"greeter", "enter")
    await it.until(lambda: it.app.editor.path == "greeter.py" and it.app.editor.has_focus, "the file")


def stop_the_disk(it: Stage) -> asyncio.Event:
    """Keep whatever waits for the disk waiting until the event is set."""
    go_on = asyncio.Event()

    async def wait() -> None:
        await go_on.wait()

    it.app.shown_file.order.add(wait)
    return go_on


async def test_a_file_is_opened_by_keys_of_one_read(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        for name in ("g", "greeter", "gree"):
            press(it, "h", "i", "ctrl+p", *name, "enter")
            await it.until(lambda: it.app.editor.path == "greeter.py", "the file")
            assert it.app.composer.text == "hi", name
            press(it, "ctrl+f4", "ctrl+u")
            await it.until(lambda: not it.app.editor.path and not it.app.composer.text, "the start again")


async def test_text_behind_the_key_that_opens_a_file_goes_into_the_file(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        press(it, "h", "ctrl+p", *"greeter", "enter", "x", "y", "f4", "i")
        await it.until(lambda: it.app.composer.text == "hi", "the text")
        assert it.app.editor.text.startswith('xy"""Says') and it.app.composer.has_focus


async def test_a_paste_behind_the_key_that_opens_a_list_goes_into_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        press(it, "ctrl+p")
        it.app.post_message(events.Paste("greeter"))
        press(it, "enter")
        it.app.post_message(events.Paste("xy"))
        press(it, "z")
        await it.until(lambda: it.app.editor.text.startswith('xyz"""Says'), "the text")
        assert it.app.composer.text == ""


async def test_a_key_that_stops_the_turn_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_order, "PATIENCE", 0.05)
    async with stage(tmp_path, rate=20) as it:
        await with_file(it)
        await it.ask("make it polite")
        it.app.editor.focus()
        await it.until(lambda: it.app.editor.has_focus, "the editor")
        go_on = stop_the_disk(it)
        press(it, "x", "ctrl+z", "f4", "o", "k", "escape")
        await it.until(lambda: not it.session.running, "the end")
        go_on.set()
        await it.until(lambda: "ok" in it.app.composer.text + it.app.editor.text, "the text")


async def test_text_behind_the_key_that_closes_a_file_goes_to_the_composer(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await with_file(it)
        press(it, "ctrl+f4", "o", "k")
        await it.until(lambda: it.app.composer.text == "ok", "the text")


async def test_text_behind_a_change_of_pane_goes_to_the_new_pane(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await with_file(it)
        for back in (["f4"], ["f6", "f6"], ["f3", "tab"]):
            it.app.composer.put("")
            it.app.composer.focus()
            await it.pilot.pause()
            before = it.app.editor.text
            press(it, "a", "f2", "x", "y", *back, "b")
            await it.until(lambda: it.app.composer.text == "ab", f"the text on both sides of {back}")
            assert sorted(it.app.editor.text) == sorted(before + "xy")


async def test_text_behind_the_key_that_closes_a_screen_goes_to_the_composer(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        press(it, "a", "ctrl+t", "q", "b", "c")
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


async def test_shrinking_and_growing_keeps_the_focus(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await with_file(it)
        sizes = (("f2", (20, 5)), ("f3", (1, 1)), ("f4", (40, 15)), ("f2", (1, 1)), ("f4", (100, 12)))
        for pane, size in sizes:
            await it.pilot.press(pane)
            focused = it.app.focused
            await it.pilot.resize_terminal(*size)
            assert it.app.focused is focused is not None, (pane, size)
            await it.pilot.resize_terminal(120, 36)
            assert it.app.focused is focused, (pane, size)
            assert it.app.editor.display and it.app.chat.display, (pane, size)


async def test_going_to_an_editor_without_a_file_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(80, 12)) as it:
        await it.pilot.press("f3", "f5", "f2")
        assert it.app.focused is it.app.chat
        assert "no file is open" in it.app.status.status.message


async def test_keys_are_held_and_released_in_their_order(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        turns = it.app.key_turns
        turns.release()
        press(it, "a")
        await it.until(lambda: it.app.composer.text == "a", "the key")
        turns.hold(events.Key("b", "b"))
        press(it, "c")
        it.app.post_message(events.Paste("d"))
        await it.until(lambda: len(turns.held) == 3, "what is held")
        assert it.app.composer.text == "a"
        turns.release()
        press(it, "e")
        await it.until(lambda: it.app.composer.text == "abcde", "all of it")
        assert turns.held == [] and turns.read_at > 0
