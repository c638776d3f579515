"""Finding, replacing, going to definitions and the user's own editor, in the real app."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from tests.e2e.tmux import terminal, wait_for
from tests.tui.stage import GREETER, Stage, stage
from tui.screen.terminal import lending


async def opened(it: Stage, path: str = "greeter.py") -> None:
    it.app.controls.files.open(path)
    await it.until(lambda: it.app.editor.path == path and it.app.editor.has_focus, "the file")
    await it.pilot.pause()


def told(it: Stage) -> str:
    return it.app.panes.find._told.text


async def test_typing_finds_from_the_cursor_and_enter_goes_round(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await opened(it)
        await it.pilot.press("ctrl+f", *"return")
        first = it.app.editor.selection
        assert it.app.editor.selected_text == "return" and "1 of 2" in told(it)
        await it.pilot.press("enter")
        assert it.app.editor.selection > first and "2 of 2" in told(it)
        await it.pilot.press("enter")
        assert it.app.editor.selection == first and "from the other end" in told(it)
        await it.pilot.press("up")
        assert "2 of 2" in told(it)
        await it.pilot.press("escape")
        assert it.app.editor.has_focus and not it.app.panes.find.display
        assert it.app.editor.selected_text == "return" and not it.app.shown_file.dirty


async def test_replacing_all_is_one_step_of_the_history(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await opened(it)
        await it.pilot.press("ctrl+f", *"name", "tab", *"who", "shift+f2")
        assert it.app.editor.buffer.text == GREETER.replace("name", "who")
        assert "replaced 4" in told(it)
        assert it.app.editor.cursor_location[0] == 3, "the cursor stays"
        await it.pilot.press("escape", "ctrl+z")
        assert it.app.editor.buffer.text == GREETER
        await it.pilot.press("ctrl+y")
        assert it.app.editor.buffer.text == GREETER.replace("name", "who")


async def test_replacing_one_by_one_and_by_regular_expression(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await opened(it)
        await it.pilot.press("ctrl+f", *"return", "tab", *"yield", "enter", "enter")
        assert it.app.editor.buffer.text == GREETER.replace("return", "yield")
        await it.pilot.press("escape", "ctrl+home", "ctrl+f", "ctrl+n", "ctrl+n", "ctrl+u")
        await it.pilot.press(*r"def (\w+)", "tab", "ctrl+u", *r"def the_\1", "shift+f2")
        assert "def the_greet(" in it.app.editor.buffer.text and "def the_part(" in it.app.editor.buffer.text
        await it.pilot.press("tab", "ctrl+u", *"(", "enter")
        assert "not a regular expression" in told(it)


async def test_a_file_without_the_text_and_a_read_only_one_stay_as_they_are(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        (it.root / "greeter.py").chmod(0o444)
        await opened(it)
        await it.pilot.press("ctrl+f", *"zzz", "enter")
        assert "no match" in told(it)
        if it.app.editor.read_only:  # root may write to it all the same
            await it.pilot.press("ctrl+u", *"name", "tab", *"who", "shift+f2")
            assert "read-only" in told(it) and it.app.editor.buffer.text == GREETER


async def test_a_definition_is_picked_by_letters_of_its_name(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await opened(it)
        await it.pilot.press("ctrl+n")
        await it.until(lambda: len(it.app.screen_stack) > 1, "the list")
        await it.pilot.press(*"part", "enter")
        await it.until(lambda: it.app.editor.cursor_location[0] == 8, "the definition")


async def test_the_users_own_editor_gives_back_its_text_unsaved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ed it.sh"
    script.write_text('#!/bin/sh\nprintf "last\\r\\n" >> "$1"\n: > "$0.ran"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"'{script}'")
    ran, lent = Path(f"{script}.ran"), []

    @contextmanager
    def away(_: HeadlessDriver) -> Iterator[None]:
        lent.append(ran.exists())
        yield
        lent.append(ran.exists())

    monkeypatch.setattr(HeadlessDriver, "away", away, raising=False)
    monkeypatch.setattr(lending, "SparkDriver", HeadlessDriver)
    async with stage(tmp_path) as it:
        await opened(it)
        await it.pilot.press("ctrl+backslash")
        await it.until(lambda: it.app.editor.buffer.text.endswith("last\n"), "the text")
        assert lent == [False, True], "the editor had the terminal from before its start to its end"
        assert it.app.shown_file.dirty and (it.root / "greeter.py").read_text() == GREETER
        await it.pilot.press("ctrl+z")
        assert it.app.editor.buffer.text == GREETER


async def test_an_editor_that_fails_leaves_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    async with stage(tmp_path) as it:
        await opened(it)
        for editor, problem in (
            ("", "no editor is set"),
            ("no-such", "was not found outside of the project"),
            ("/no/such", "cannot be run"),
            ("false", "ended with 1"),
            ("'", "is no"),
        ):
            monkeypatch.setenv("VISUAL", editor)
            await it.pilot.press("ctrl+backslash")
            told = partial(lambda words: words in it.app.status.status.message, problem)
            await it.until(told, f"the problem with {editor!r}")
            assert it.app.editor.buffer.text == GREETER, editor


@pytest.mark.long
def test_another_editor_has_the_whole_terminal_and_spark_comes_back(tmp_path: Path, spark_path: Path) -> None:
    script = tmp_path / "asks.sh"
    script.write_text('#!/bin/sh\nprintf "other editor: "\nread answer\necho "$answer" >> "$1"\n')
    script.chmod(0o755)
    environment = {"TMPDIR": str(tmp_path), "VISUAL": str(script)}
    with terminal([str(spark_path), "demo"], 100, 30, environment, tmp_path) as pane:
        pane.until("ready")
        pane.keys("C-p")
        pane.type("store.py")
        pane.keys("Enter")
        pane.until("class Store")
        pane.keys("C-\\")
        pane.until("other editor:")
        pane.type("a word from outside")
        pane.keys("Enter")
        pane.until("unsaved")
        pane.keys("C-End")
        pane.until("a word from outside")
        pane.keys("C-s")
        sample = next(tmp_path.glob("spark-demo-*"))
        wait_for(lambda: "a word from outside" in (sample / "tasks/store.py").read_text(), "the save")
        pane.keys("C-q")
        pane.until("exit 0")


async def test_a_regular_expression_that_would_never_end_is_told_and_keys_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"a.txt": "a" * 300 + "!\n" + "b\n"}) as it:
        assert await it.app.shown_file.open("a.txt")
        await it.pilot.press("f2", "ctrl+f", "ctrl+n", "ctrl+n", *"(a|a)+$")
        await it.until(lambda: "takes too long" in it.screen, "the reason")
        await it.pilot.press("ctrl+u", "b")
        await it.until(lambda: "1 of 1" in it.screen, "the match")
