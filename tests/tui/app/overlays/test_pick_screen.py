"""Lists to pick from: the palette and the earlier prompts in the real app."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import stage
from tui.app.overlays.pick_screen import PickScreen
from tui.front.matching import Choice, filtered, marked

SILENT = """
[[scenario]]
id = "silent"
match = ["*"]
[[scenario.step]]
stall = 600.0
"""
CHOICES = [
    Choice("a", "undo a hunk", "takes it back", "Hunks"),
    Choice("b", "open a file", "any file; undo is kept", "Files"),
    Choice("c", "quit", "", "Files"),
]


def test_every_word_must_occur_and_names_come_first() -> None:
    assert [each.value for each in filtered("", CHOICES)] == ["a", "b", "c"]
    assert [each.value for each in filtered("undo", CHOICES)] == ["a", "b"]
    assert [each.value for each in filtered("UNDO file", CHOICES)] == ["b"]
    assert [each.value for each in filtered("files", CHOICES)] == ["b", "c"]
    assert filtered("nothing", CHOICES) == []
    assert marked("do un", "undo") == frozenset({0, 1, 2, 3})
    assert marked("x", "undo") == frozenset()


async def test_a_command_is_found_by_its_help_and_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f1", *"tokens cost speed")
        await it.until(lambda: "/usage" in it.screen, "the command")
        await it.pilot.press("enter")
        await it.until(lambda: "this session" in it.chat + it.screen, "the figures")
        assert it.app.composer.has_focus


async def test_a_key_is_found_and_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f1", *"open a file")
        await it.until(lambda: "Ctrl+P" in it.screen, "the key")
        await it.pilot.press("enter")
        await it.until(lambda: "Open a file" in it.screen, "the list of files")
        await it.pilot.press("escape")
        await it.until(lambda: len(it.app.screen_stack) == 1, "the panes")


async def test_a_command_that_needs_something_is_typed_only(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f1", *"remove a lock", "enter")
        await it.until(lambda: it.app.composer.text == "/unlock ", "the command")
        assert it.app.composer.has_focus


async def test_an_earlier_prompt_is_found_and_the_draft_comes_back_by_undo(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        composer = it.app.composer
        for prompt in ("fix the parser\nplease", "write a test", "fix the lexer"):
            composer.history_of_prompts.add(prompt)
        await it.pilot.press(*"half a", "ctrl+r", *"fix the")
        await it.until(
            lambda: isinstance(it.app.screen, PickScreen) and "fix the lexer" in it.screen, "the list"
        )
        await it.pilot.press("ctrl+r", "enter")
        await it.until(lambda: composer.text == "fix the parser\nplease", "the prompt")
        await it.pilot.press("ctrl+underscore")
        assert composer.text == "half a"
        await it.pilot.press("ctrl+r", "escape")
        assert composer.text == "half a" and len(it.app.screen_stack) == 1


async def test_the_chosen_line_is_read_whole_at_every_size(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(40, 10)) as it:
        for size in ((40, 10), (80, 24), (200, 60)):
            await it.pilot.resize_terminal(*size)
            await it.pilot.press("f1", *"stop the turn at once")
            await it.until(lambda: "Esc" in it.screen, f"the key at {size}")
            await it.pilot.pause()
            words = " ".join(it.screen.replace("│", " ").replace("─", " ").split())
            assert "what was queued comes back" in words, (size, it.screen)
            assert all(len(line) <= size[0] for line in it.screen.splitlines()), (size, it.screen)
            await it.pilot.press("escape")
            assert len(it.app.screen_stack) == 1, size


async def test_the_keys_of_the_list_move_the_choice(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f1")
        screen = it.app.screen
        assert isinstance(screen, PickScreen)
        first = screen.chosen
        for key in ("down", "tab", "ctrl+n", "ctrl+j"):
            await it.pilot.press(key, key)
            await it.until(lambda: screen.chosen != first, f"another choice by {key}")
            await it.pilot.press("up", "up", "pagedown", "pageup", "up")
            await it.until(lambda: screen.chosen == first, f"the first again after {key}")


async def test_a_low_terminal_has_no_empty_row_and_tells_whole_hints(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(40, 10)) as it:
        await it.pilot.press("f1")
        await it.until(lambda: "Enter runs it · Esc closes ─" in it.screen, "the hints that fit")
        rows = [line.strip("│─ ") for line in it.screen.splitlines()]
        assert rows[2] == "Anywhere", it.screen
        await it.pilot.press(*"apply the hunk")
        heading = "What needs your OK (Shift+Tab goes…"
        await it.until(lambda: heading in it.screen, "a heading that says where it is cut")


async def test_the_choice_stays_in_sight(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(40, 10)) as it:
        for size in ((40, 10), (80, 24)):
            await it.pilot.resize_terminal(*size)
            await it.pilot.press("f1")
            screen = it.app.screen
            assert isinstance(screen, PickScreen)
            for key in ("pagedown", "down", "pagedown", "pagedown", "pageup", "up"):
                await it.pilot.press(key)
                assert screen.chosen is not None
                seen = f"❯ {screen.chosen.name}"[:10]
                assert seen in it.screen, f"{size}, {key}: {screen.chosen}\n{it.screen}"
            await it.pilot.press("escape")


async def test_the_palette_ends_with_the_signs_of_the_editor(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f1", *"signs refused")
        await it.until(lambda: "✗  refused" in it.screen, "the legend")
        await it.pilot.press("enter")
        await it.until(lambda: len(it.app.screen_stack) == 1, "the panes")


async def test_arrows_choose_a_file(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"a.py": "1\n", "b.py": "2\n"}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the list of files")
        await it.pilot.press("ctrl+p", "down", "enter")
        await it.until(lambda: it.app.editor.path == "b.py", "the second file")


async def test_the_key_of_the_help_closes_it_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SILENT) as it:
        await it.ask("go")
        await it.pilot.press("f1")
        await it.until(lambda: "F1 leaves, Esc stops the turn" in it.screen, "the help")
        await it.pilot.press("f1")
        await it.until(lambda: len(it.app.screen_stack) == 1, "the panes")
        assert it.session.running
        await it.pilot.press("ctrl+c")
        await it.done()


async def test_the_list_of_themes_leaves_in_sight_what_it_shows(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(80, 24)) as it:
        assert await it.app.shown_file.open("greeter.py")
        it.app.composer.insert("/theme")
        await it.pilot.press("enter")
        await it.until(lambda: "colour-safe" in it.screen and "ansi16" in it.screen, "every theme")
        lines = it.screen.splitlines()
        for told in ("greeter.py", "Says hello", "def greet(name", "Chat", "Ask", "ready"):
            assert any(told in line for line in lines), (told, it.screen)
        await it.pilot.press("escape")
