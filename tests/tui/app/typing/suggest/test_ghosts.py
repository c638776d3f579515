"""Suggestions in the real app, with the real partner: shown as the user types, accepted, hidden, undone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.assist.suggest.suggestion import Insertion
from session.base.storage.folders import config_folder
from session.record.usage import Kind
from tests.tui.stage import TWO_HUNKS, Stage, stage

SHAPES = """\
import math


def area(width, height):
    return checked(width * height)


def volume(width, height, depth):
    return checked(width * height * depth)


"""


@asynccontextmanager
async def typing(folder: Path, text: str = SHAPES, **more: object) -> AsyncIterator[Stage]:
    """The app with the cursor at the end of ``shapes.py``, where suggestions may go out."""
    async with stage(folder, files={"shapes.py": text}, **more) as at:  # type: ignore[arg-type]
        await at.app.shown_file.open("shapes.py")
        at.app.editor.focus()
        at.app.editor.move_cursor(at.app.editor.document.end)
        at.session.typing()
        side = at.session.side
        await at.until(lambda: side.refusal(Kind.SUGGESTION) is None, "the budget")
        await at.until(lambda: "shapes.py" in at.session.context.snapshot.entries, "the index")
        yield at


def settle(config: str) -> None:
    """Write the user's ``config.toml``."""
    folder = config_folder({})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(config, "utf-8")


def shown(at: Stage) -> str:
    """The suggested text."""
    found = at.app.controls.ghosts.shown
    return found.text if isinstance(found, Insertion) else ""


async def read(at: Stage) -> None:
    """Wait until a suggestion is shown and can have been read."""
    await at.until(lambda: at.app.controls.ghosts.readable, "a suggestion that was read")


def line(at: Stage, row: int) -> str:
    """What is drawn in a line, without the gutter."""
    strip = at.app.editor.render_line(row - at.app.editor.scroll_offset.y)
    return strip.text[at.app.editor.gutter_width :].rstrip(" │")


async def test_ghost_text_is_drawn_at_the_cursor_and_is_not_in_the_text(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def ", "a")
        await at.until(lambda: shown(at) == "rea(width, height):", "the suggestion")
        await at.pilot.pause()
        row = at.app.editor.cursor_location[0]
        assert line(at, row) == "def area(width, height):"
        assert at.app.editor.buffer.text.endswith("\ndef a")


async def test_tab_accepts_all_and_undo_takes_it_back_as_one_step(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await read(at)
        await at.pilot.press("tab")
        assert at.app.editor.buffer.text.endswith("\ndef area(width, height):")
        await at.pilot.press("ctrl+z")
        assert at.app.editor.buffer.text.endswith("\ndef a")
        await at.pilot.press("ctrl+y")
        assert at.app.editor.buffer.text.endswith("\ndef area(width, height):")
        await at.pilot.press(*" #", "ctrl+z")
        assert at.app.editor.buffer.text.endswith("\ndef area(width, height):"), "typing is a step of its own"


async def test_tab_indents_where_nothing_is_shown(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        at.session.side.switch(on=False)
        await at.pilot.press("tab", "x")
        assert at.app.editor.buffer.text.endswith("\n    x")


async def test_a_word_is_accepted_and_the_rest_stays(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await read(at)
        await at.pilot.press("ctrl+right")
        assert at.app.editor.buffer.text.endswith("\ndef area")
        assert shown(at) == "(width, height):"
        await at.pilot.press("tab")
        assert at.app.editor.buffer.text.endswith("\ndef area(width, height):"), "it was read with the word"


@pytest.mark.parametrize("key", ["end", "ctrl+e"])
async def test_the_keys_to_the_end_of_a_line_take_nothing(tmp_path: Path, key: str) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await read(at)
        await at.pilot.press(key)
        assert at.app.editor.buffer.text.endswith("\ndef a")
        assert at.app.editor.cursor_location[1] == len("def a")


@pytest.mark.parametrize("key", ["tab", "ctrl+right", "end"])
async def test_what_nobody_can_have_read_is_not_taken(tmp_path: Path, key: str) -> None:
    async with typing(tmp_path) as at:
        for typed in ("def a", "r"):  # the rest of what is shown stays as old as it is
            await at.pilot.press(*typed)
            await at.until(lambda: shown(at), "the suggestion")
        before = at.app.editor.buffer.text
        at.key(key, "\t" if key == "tab" else None)
        await at.pilot.pause()
        assert at.app.editor.buffer.text == before
        await read(at)
        await at.pilot.press("tab")
        assert at.app.editor.buffer.text.endswith("\ndef area(width, height):")


async def test_tab_in_leading_blanks_indents_whatever_is_shown(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def volume(width, height, depth):", "enter")
        at.app.editor.choose(((at.app.editor.cursor_location[0], 0), at.app.editor.cursor_location))
        await at.pilot.press("backspace", " ")
        await at.until(lambda: shown(at), "the suggestion")
        await read(at)
        await at.pilot.press("tab")
        assert at.app.editor.buffer.text.endswith("depth):\n    ")


async def test_what_is_typed_is_taken_off_it_and_another_key_ends_it(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: shown(at) == "rea(width, height):", "the suggestion")
        sent = len(at.partner.requests) if at.partner is not None else 0
        await at.pilot.press("r", "e")
        assert shown(at) == "a(width, height):"
        assert at.partner is not None and len(at.partner.requests) == sent, "nothing was asked for that"
        await at.pilot.press("!")
        assert shown(at) == ""
        assert at.app.editor.buffer.text.endswith("\ndef are!")


async def test_escape_hides_it_and_it_is_not_shown_again_there(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: shown(at), "the suggestion")
        await at.pilot.press("escape")
        assert shown(at) == ""
        await at.pilot.press("r", "backspace")
        await asyncio.sleep(0.05)
        assert shown(at) == ""


async def test_end_goes_to_the_end_of_a_line_that_has_more(tmp_path: Path) -> None:
    text = "print(total)\nprint(total)\n"
    async with typing(tmp_path, text) as at:
        await at.pilot.press(*"print()", "left", *"tot")
        await at.until(lambda: shown(at) == "al", "the suggestion")
        await at.pilot.press("end")
        assert at.app.editor.buffer.text.endswith("\nprint(tot)")
        assert at.app.editor.cursor_location[1] == len("print(tot)")


async def test_moving_the_cursor_hides_it(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: shown(at), "the suggestion")
        await at.pilot.press("up")
        assert shown(at) == "" and at.app.editor.ghost.text == ""


async def test_a_suggestion_of_lines_is_drawn_below(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def volume(width, height, depth):")
        await at.until(lambda: shown(at).startswith("\n"), "the suggestion")
        await read(at)
        await at.pilot.pause()
        assert "return checked(width * height * depth)" in at.screen.splitlines()[13]
        await at.pilot.press("tab")
        assert at.app.editor.buffer.text.endswith("\n    return checked(width * height * depth)")


async def test_a_rename_is_offered_for_the_lines_around(tmp_path: Path) -> None:
    text = "count = 1\nother = 2\n" + "\n" * 8 + "total = count + other\nprint(count)\n"
    async with typing(tmp_path, text) as at:
        editor = at.app.editor
        editor.move_cursor((0, 5))
        await at.pilot.press("s")
        editor.move_cursor((10, 5))
        await at.pilot.press("x", "backspace")
        await read(at)
        await at.pilot.pause()
        assert "total = counts + other" in at.screen and "total = count + other" in at.screen
        await at.pilot.press("tab")
        assert editor.buffer.text.endswith("total = counts + other\nprint(counts)\n")
        await at.pilot.press("ctrl+z")
        assert editor.buffer.text.endswith("total = count + other\nprint(count)\n")


async def test_alt_s_turns_them_off(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press("alt+s")
        assert "suggestions are off" in at.app.status.status.message
        sent = len(at.partner.requests) if at.partner is not None else 0
        await at.pilot.press(*"def a")
        await asyncio.sleep(0.1)
        assert at.partner is not None and len(at.partner.requests) == sent
        await at.pilot.press("alt+s", "r")
        await at.until(lambda: shown(at) == "ea(width, height):", "the suggestion")
        assert "/h" in " ".join(at.app.status.status.side)


async def test_nothing_of_a_file_that_was_taken_out_of_the_window_is_sent(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: shown(at), "the suggestion")
        await at.pilot.press("escape")
        await at.session.context.remove("shapes.py")
        assert at.partner is not None
        sent = len(at.partner.requests)
        await at.pilot.press(*"bc = math")
        await asyncio.sleep(0.3)
        assert shown(at) == "" and len(at.partner.requests) == sent
        await at.session.context.restore("shapes.py")
        await at.pilot.press("enter", *"def v")
        await at.until(lambda: shown(at).startswith("olume(width"), "the suggestion")


@pytest.mark.parametrize("path", [".env", "id_rsa"])
async def test_nothing_of_a_secret_file_is_sent(tmp_path: Path, path: str) -> None:
    async with stage(tmp_path, files={path: "TOKEN = 1\nTOKEN = 2\n", "a.py": "x = 1\n"}) as at:
        await at.app.shown_file.open(path)
        at.app.editor.focus()
        at.app.editor.move_cursor(at.app.editor.document.end)
        at.session.typing()
        await at.until(lambda: at.session.side.refusal(Kind.SUGGESTION) is None, "the budget")
        await at.until(lambda: "a.py" in at.session.context.snapshot.entries, "the index")
        await at.pilot.press(*"TOK")
        await asyncio.sleep(0.2)
        assert at.partner is not None and not [each for each in at.partner.requests if each.generate]


@pytest.mark.parametrize(
    "row",
    [
        'fim = "completions"',
        'fim = "infill"',
        'dialects = ["chat"]\nwebsocket = false',
        'dialects = ["messages"]\nwebsocket = false\nspare = false',
    ],
)
async def test_they_come_in_every_dialect(tmp_path: Path, row: str) -> None:
    settle(f"[providers.openai]\n{row}\n")
    async with typing(tmp_path) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: shown(at) == "rea(width, height):", "the suggestion")
        if "fim" in row:
            assert at.partner is not None
            last = at.partner.requests[-1]
            assert not last.instructions and {"suffix", "input_suffix"} & {*last.body}


async def test_a_server_that_fills_no_gaps_is_asked_in_words(tmp_path: Path) -> None:
    settle('[providers.openai]\nfim = "infill"\n')
    script = 'dialects = ["responses"]\n' + TWO_HUNKS
    async with typing(tmp_path, script=script) as at:
        await at.pilot.press(*"def a")
        await at.until(lambda: not at.session.side.model.fim, "the refusal")
        await at.pilot.press("r")
        await at.until(lambda: shown(at) == "ea(width, height):", "the suggestion")
