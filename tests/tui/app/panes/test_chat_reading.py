"""Selecting, copying and finding in the chat, by keys and by the mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.geometry import Offset

from tests.thorough import share
from tests.tui.app.panes.test_chat import chat, shown
from tests.tui.stage import GREETER, stage
from tui.chat.chat import ChatView
from tui.chat.reading import Reading
from tui.chat.transcript.answer import LONG_BLOCK, Answer
from tui.chat.transcript.entries import HunkSize
from tui.chat.transcript.transcript import Prompt, Transcript

LONG = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore."
CODE = "Before.\n\n```make\nall:\n\techo one two three four five six seven eight nine ten eleven\n```\n"


class Hands:
    """Takes note of what the chat's keys ask for."""

    def __init__(self) -> None:
        self.copied: list[str] = []
        self.told: list[str] = []
        self.went: list[str] = []

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def say(self, text: str) -> None:
        self.told.append(text)

    def go_to_hunk(self, hunk: str) -> None:
        self.went.append(hunk)

    def output(self, call: str, shown: Callable[[str], None]) -> None:
        shown(f"all that {call} printed")


def with_hands(view: ChatView) -> Hands:
    hands = Hands()
    view.keys.hands = hands
    return hands


def answer(text: str, width: int = 30) -> tuple[Reading, Transcript]:
    transcript = Transcript(width)
    entry = Answer()
    entry.feed(text)
    entry.close()
    transcript.add(entry)
    transcript.settle()
    return Reading(transcript), transcript


def all_text(reading: Reading, transcript: Transcript) -> str:
    reading.anchor = reading.spot(0)
    reading.by_lines = True
    reading.cursor = reading.spot(transcript.total - 1)
    return reading.text()


words = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=30)
lines = st.lists(words, min_size=1, max_size=30).map(" ".join)


@settings(max_examples=share(60, 20))
@given(st.lists(lines, min_size=1, max_size=5), st.integers(10, 60))
def test_wrapped_lines_are_copied_whole_at_any_width(text: list[str], width: int) -> None:
    reading, transcript = answer("\n".join(text), width)
    assert all_text(reading, transcript) == "\n".join(text)


def test_code_is_copied_as_it_was_written_with_its_tabs_and_without_its_frame() -> None:
    reading, transcript = answer(CODE)
    assert all_text(reading, transcript) == CODE.replace("```make\n", "").removesuffix("\n```\n")


def test_a_part_of_a_code_line_is_copied_as_it_is_drawn() -> None:
    reading, transcript = answer(CODE)
    number = next(at for at in range(transcript.total) if "echo" in (transcript.row(at) or Prompt("")).text)
    row = transcript.row(number)
    assert row is not None
    at = row.text.index("echo")
    reading.anchor, reading.cursor = reading.spot(number, at), reading.spot(number, at + 4)
    assert reading.text() == "echo"


def test_a_folded_block_is_copied_with_what_it_hides() -> None:
    code = "".join(f"line {number}\n" for number in range(LONG_BLOCK + 5))
    reading, transcript = answer(f"```\n{code}```\n")
    before = transcript.total
    entry = transcript.entries[0]
    assert isinstance(entry, Answer) and entry.fold(folded=True)
    transcript.settle()
    assert transcript.total < before
    assert all_text(reading, transcript) == code.removesuffix("\n")
    assert entry.toggle(3)
    transcript.settle()
    assert transcript.total == before


async def test_keys_select_from_the_cursor_and_copy() -> None:
    async with chat() as (view, pilot):
        hands = with_hands(view)
        view.text("one two\nthree four\n")
        view.close_run()
        view.settle_now()
        await pilot.press("V", "k", "k", "y")
        assert hands.copied[-1].startswith("one two\nthree four")


async def test_shift_and_arrows_select_characters() -> None:
    async with chat() as (view, pilot):
        hands = with_hands(view)
        view.text("one two three\n")
        view.close_run()
        view.settle_now()
        await pilot.press("v", "v", "up", "0", "shift+right", "shift+right", "shift+right", "y")
        assert hands.copied == ["one"]


async def test_the_line_at_the_cursor_is_copied_unwrapped() -> None:
    async with chat((30, 12)) as (view, pilot):
        hands = with_hands(view)
        view.prompt("a prompt")
        view.text(f"{LONG}\n")
        view.close_run()
        view.settle_now()
        await pilot.press("v", "v", "y")
        assert hands.copied == [LONG]


async def test_the_mouse_selects_and_escape_ends_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        chat = it.app.chat
        y = next(y for y in range(chat.size.height) if "one thing" in chat.render_line(y).text)
        x = chat.render_line(y).text.index("one")
        at = chat.content_region.offset - chat.region.offset
        await it.pilot.mouse_down(chat, offset=at + Offset(x, y))
        it.app.screen._forward_event(moved(chat.content_region.offset + Offset(x + 9, y)))
        await it.pilot.mouse_up(chat, offset=at + Offset(x + 9, y))
        assert chat.selected_text == "one thing"
        assert it.app.focused is chat
        await it.pilot.press("y")
        await it.until(lambda: "9 characters" in it.app.status.status.message, "the copy")
        await it.pilot.press("v", "escape")
        assert chat.selected_text == "" and chat.reading.anchor is None


def moved(to: Offset) -> events.MouseMove:
    """The mouse at a cell of the screen, with the left button held."""
    return events.MouseMove(None, to.x, to.y, 1, 0, 1, False, False, False, to.x, to.y)


async def test_a_search_finds_a_text_that_is_wrapped_and_goes_round() -> None:
    async with chat((30, 12)) as (view, pilot):
        hands = with_hands(view)
        view.text(f"{LONG}\n\nNothing here.\n\nDolor again.\n" + "filler\n\n" * 30)
        view.close_run()
        view.settle_now()
        await pilot.press("slash", *"dolor sit", "enter")
        first = view.reading.point(view.reading.cursor)
        assert first is not None and view.reading.matches_in(first[0])
        await pilot.press("slash", *"dolor", "enter", "n")
        second = view.reading.point(view.reading.cursor)
        assert second is not None and second > first
        await pilot.press("n")
        assert view.reading.point(view.reading.cursor) == first
        assert "from the start again" in hands.told
        await pilot.press("N")
        assert view.reading.point(view.reading.cursor) == second
        await pilot.press("slash", *"Dolor", "enter", "n")
        assert view.reading.point(view.reading.cursor) == second, "a capital counts"


async def test_what_is_not_there_is_told_and_letters_of_a_search_run_no_key() -> None:
    async with chat() as (view, pilot):
        hands = with_hands(view)
        view.text("some words\n")
        view.settle_now()
        await pilot.press("slash", *"vyGnoO", "enter")
        assert view.reading.query == "vyGnoO" and hands.copied == []
        assert any("is not in the conversation" in told for told in hands.told)
        assert "/vyGnoO" in shown(view)[-1]
        assert view.let_go() and view.reading.query == ""


async def test_a_hunk_is_chosen_and_gone_to() -> None:
    async with chat() as (view, pilot):
        hands = with_hands(view)
        for number in range(1, 4):
            view.prompt(f"prompt {number}")
            view.hunk(f"h{number}", "a.py", "update", "landed", "", HunkSize(9, 0, "+return 1"))
        view.settle_now()
        await pilot.press("left_square_bracket", "left_square_bracket", "enter")
        assert hands.went == ["h2"]
        await pilot.press("K", "J", "J", "enter")
        assert hands.went == ["h2", "h3"]
        await pilot.press("J")
        assert "no hunk or call below" in hands.told
        await pilot.press("left_curly_bracket")
        cursor = view.reading.cursor
        assert cursor is not None and isinstance(cursor.entry, Prompt) and cursor.entry.text == "prompt 3"
        text = "\n".join(shown(view))
        assert "+9 −0" in text and "+ return 1" in text


async def test_a_prompt_folds_the_long_blocks_before_it_but_not_under_the_readers_eyes() -> None:
    code = "```py\n" + "x = 1\n" * (LONG_BLOCK + 10) + "```\n"
    async with chat() as (view, pilot):
        view.text(code)
        view.settle_now()
        await pilot.press("v")
        total = view.transcript.total
        view.prompt("next")
        view.settle_now()
        assert view.transcript.total > total and not view.following
        view.let_go()
        view.let_go()
        view.prompt("another")
        view.settle_now()
        assert view.transcript.total < total and view.following


async def test_a_prompt_from_the_composer_is_seen_whatever_is_selected_in_the_chat() -> None:
    async with chat((40, 10)) as (view, pilot):
        view.text("one line\n\n" * 20)
        view.settle_now()
        await pilot.press("v", "g")
        pilot.app.set_focus(None)
        view.prompt("sent from the composer")
        view.settle_now()
        assert view.following and any("sent from the composer" in row for row in shown(view))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (200, 60)])
async def test_a_language_is_named_once_and_is_not_copied(size: tuple[int, int]) -> None:
    async with chat(size) as (view, _):
        view.text("```\x1b[31mrust\nfn main() {}\n```\n")
        view.close_run()
        view.settle_now()
        text = "\n".join(shown(view))
        assert "rust" in text and "\x1b" not in text
        assert all_text(view.reading, view.transcript) == "fn main() {}"


async def test_enter_on_a_hunk_opens_its_file_there(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"a.txt": "a\n", "greeter.py": GREETER}) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f3", "left_square_bracket", "enter")
        await it.until(lambda: it.app.focused is it.app.editor, "the editor")
        assert it.app.editor.path == "greeter.py"
        marks = it.app.editor.marks.of("greeter.py")
        assert marks[1].start <= it.app.editor.cursor_location[0] < marks[1].end
        assert "+1 −1" in it.chat and "+2 −1" in it.chat
        await it.until(lambda: " greet  +2 −1" in it.chat and " part  +1 −1" in it.chat, "the definitions")
