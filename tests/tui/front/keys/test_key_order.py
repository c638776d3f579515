"""Keys that are read together, as over a slow line, act in the order in which they were pressed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from tests.tui.app.panes.test_composer import composer
from tests.tui.app.panes.test_editor import editor
from tests.tui.stage import stage
from themes.loader import load_theme
from tui.app.overlays.file_picker import FilePicker
from tui.front.keys import key_order
from tui.screen.drawing.palette import Palette

KEYS = [
    (["a", "x", "backspace", "b"], "ab"),
    (["a", "b", "left", "c"], "acb"),
    (["b", "home", "a", "end", "c"], "abc"),
    (["o", "l", "d", "ctrl+u", "n", "e", "w"], "new"),
    (["o", "l", "d", "ctrl+w", "n", "e", "w"], "new"),
    (["a", "b", "shift+left", "c"], "ac"),
]


async def typed(area: TextArea, pilot: Pilot[None], keys: list[str]) -> str:
    """The text after ``keys`` that came in one go."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await pilot.pause()
    await pilot.pause()
    return area.text


@pytest.mark.parametrize(("keys", "text"), [*KEYS, (["a", "ctrl+underscore", "b"], "b")])
async def test_the_composer_takes_keys_in_turn(keys: list[str], text: str) -> None:
    async with composer() as (_, area, pilot):
        assert await typed(area, pilot, keys) == text


@pytest.mark.parametrize(("keys", "text"), KEYS)
async def test_the_editor_takes_keys_in_turn(keys: list[str], text: str) -> None:
    async with editor("") as (area, pilot):
        assert await typed(area, pilot, keys) == text


async def test_the_file_list_takes_keys_in_turn(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "what the project holds")
        await it.pilot.press("ctrl+p")
        await it.until(lambda: isinstance(it.app.screen, FilePicker), "the list")
        for key in ("g", "x", "backspace", "r", "e"):
            it.key(key, key if len(key) == 1 else None)
        await it.until(lambda: it.app.screen.query_one(Input).value == "gre", "what was typed")
        it.key("enter", "\r")
        await it.until(lambda: it.app.shown_file.path == "greeter.py", "the file")


async def test_an_open_file_list_shows_files_that_come_and_keeps_the_choice(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("ctrl+p")  # perhaps before anything of the project has been read
        await it.until(lambda: isinstance(it.app.screen, FilePicker), "the list")
        await it.until(lambda: "greeter.py" in it.screen, "what the project holds")
        picker = it.app.screen
        assert isinstance(picker, FilePicker)
        while picker._found[picker._chosen][0] != "greeter.py":
            await it.pilot.press("down")
        (tmp_path / "project" / "aardvark.py").write_text("x = 1\n")
        await it.until(lambda: "aardvark.py" in it.screen, "the new file")
        await it.pilot.press("enter")
        await it.until(lambda: it.app.shown_file.path == "greeter.py", "the file that was chosen")


async def test_enter_takes_a_file_while_the_list_goes_on_changing() -> None:
    names = [f"folder{n % 977}/part_{n}_of_many.py" for n in range(60_000)]
    taken: list[str | None] = []

    def listed() -> tuple[str, ...]:
        names.append(f"zz{len(names)}.py")
        return tuple(names)

    async with App[None]().run_test() as pilot:
        # Faster than a search of so many takes.
        picker = FilePicker(Palette(load_theme("dark")), listed, "")
        picker.LOOK_AGAIN = 0.01
        pilot.app.push_screen(picker, taken.append)
        await pilot.pause()
        picker.query_one(Input).value = "part777"
        await pilot.press("enter")
        for _ in range(400):
            if taken:
                break
            await asyncio.sleep(0.05)
    assert taken and taken[0] and "777" in taken[0]


@pytest.mark.parametrize("keys", [["ctrl+q"], ["ctrl+c", "ctrl+c"]], ids=["quit", "twice Ctrl+C"])
async def test_a_pane_that_hangs_keeps_nobody_from_leaving(
    keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_order, "AT_LAST", 0.1)
    async with stage(tmp_path) as it:
        assert it.app.focused is not None
        hanging = asyncio.Event()
        it.app.focused.call_later(hanging.wait)
        for key in keys:
            it.key(key)
        await it.until(lambda: it.app._exit, "the end")
        hanging.set()


async def test_what_was_typed_before_is_waited_for_wherever_it_went(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        assert it.app.focused is not None
        hanging, called = asyncio.Event(), []
        it.app.focused.call_later(hanging.wait)
        waiting = asyncio.create_task(key_order.typed(it.app))
        key_order.after_typing(it.app, lambda: called.append("typed"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done() and called == []
        hanging.set()
        await waiting
        await it.until(lambda: called == ["typed"], "the call")
        it.app.set_focus(None)
        await key_order.typed(it.app)
        key_order.after_typing(it.app, lambda: called.append("without a focus"))
        await it.until(lambda: called == ["typed", "without a focus"], "the call")


async def test_what_comes_at_last_comes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_order, "AT_LAST", 0.02)
    async with stage(tmp_path, server=False) as it:
        called, later = [], asyncio.Event()

        async def call() -> None:
            called.append(1)

        key_order.after_typing_at_last(it.app, call)
        asyncio.get_running_loop().call_later(0.1, later.set)
        await later.wait()
        await it.pilot.pause()
        assert called == [1]
