"""The bar that asks: no key that was on its way answers it, and what would be run is read first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from session.tools.command.rules import KeptRules
from tests.tui.stage import Clock, clock_of_questions, stage
from themes.loader import load_theme
from tui.app.panes.held_bar import ARMED_AFTER, HeldBar, Question
from tui.front.keys import keymap
from tui.front.keys.keymap import default_keymap
from tui.front.keys.own_keys import own_keys
from tui.front.words.check_lines import exact_lines
from tui.front.words.held_items import Verdict
from tui.screen.drawing.palette import Palette


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[str, str]] = []
        self.left: list[str] = []

    def compose(self) -> ComposeResult:
        yield HeldBar(Palette(load_theme("dark")))

    def on_held_bar_answered(self, event: HeldBar.Answered) -> None:
        self.answers.append((event.name, event.verdict))

    def on_held_bar_left(self, event: HeldBar.Left) -> None:
        self.left.append(event.to)


@asynccontextmanager
async def bar(question: Question) -> AsyncIterator[tuple[Host, HeldBar, Pilot[None], Clock]]:
    app = Host()
    with clock_of_questions() as clock:
        async with app.run_test(size=(60, 24)) as pilot:
            found = app.query_one(HeldBar)
            found.ask(question)
            found.focus()
            await pilot.pause()
            yield app, found, pilot, clock


async def press(bar: HeldBar, pilot: Pilot[None], key: str) -> None:
    """Press a key as the app does, which tells the bar of every key before it acts."""
    bar.key_pressed()
    await pilot.press(key)


async def test_a_key_that_was_on_its_way_does_not_answer() -> None:
    async with bar(Question("h1", "Apply h1? ")) as (app, found, pilot, clock):
        await press(found, pilot, "y")
        assert app.answers == []
        clock.forward(ARMED_AFTER)
        await press(found, pilot, "x")
        await press(found, pilot, "y")
        assert app.answers == [], "keys still came, one behind the other"
        clock.forward(ARMED_AFTER)
        await press(found, pilot, "y")
        assert app.answers == [("h1", "apply")]


async def test_an_answer_that_comes_too_early_is_told() -> None:
    async with bar(Question("h1", "Apply h1? ")) as (app, found, pilot, clock):
        clock.forward(ARMED_AFTER)
        found.ask(Question("h2", "Apply h2? "))
        await press(found, pilot, "n")
        assert app.answers == []
        assert "press it again" in found.render_line(found.size.height - 1).text
        clock.forward(ARMED_AFTER)
        await press(found, pilot, "n")
        assert app.answers == [("h2", "reject")]
        assert "press it again" not in found.render_line(found.size.height - 1).text


async def test_the_keys_are_those_of_the_user() -> None:
    own = {"held": {"answer('apply')": "o", "answer('theirs')": "ctrl+t"}}
    keymap.use(own_keys(default_keymap(), own).scopes, vi=False)
    try:
        others: tuple[tuple[Verdict, str], ...] = (("theirs", "theirs"),)
        async with bar(Question("h1", "Apply h1? ", others=others)) as (_, found, _pilot, _clock):
            keys = found.render_line(found.size.height - 1).text
            assert keys.split(" · ")[:2] == ["   o apply", "n reject"] and "Ctrl+T theirs" in keys
    finally:
        keymap.use(default_keymap(), vi=False)


async def test_a_question_that_can_wait_does_not_get_the_keys_behind_an_answer() -> None:
    async with bar(Question("h1", "Apply h1? ")) as (app, found, pilot, _clock):
        found.stand(Question("trust", "AGENTS.md would instruct the model"))
        found.ask(Question("h2", "Apply h2? "))
        await pilot.pause()
        assert app.left == [], "one held hunk is answered after the other"
        found.ask(None)
        await pilot.pause()
        assert found.question is not None and found.question.name == "trust" and app.left == ["composer"]


async def test_another_question_has_to_stand_as_long() -> None:
    async with bar(Question("h1", "Apply h1? ")) as (app, found, pilot, clock):
        clock.forward(ARMED_AFTER)
        found.ask(Question("h2", "Apply h2? "))
        await press(found, pilot, "y")
        assert app.answers == []


async def test_a_long_command_is_read_to_its_end_before_it_can_be_allowed() -> None:
    command = "\n".join(f"echo {number}" for number in range(40))
    async with bar(Question("c1", "run needs your OK", command)) as (app, found, pilot, clock):
        text = "\n".join(found.render_line(y).text for y in range(found.size.height))
        assert "32 MORE LINES BELOW" in text and ", then y apply · n reject" in text
        clock.forward(ARMED_AFTER)
        await press(found, pilot, "y")
        assert app.answers == []
        for _ in range(5):
            await press(found, pilot, "pagedown")
        text = "\n".join(found.render_line(y).text for y in range(found.size.height))
        assert "echo 39" in text and "32 more lines above" in text
        clock.forward(ARMED_AFTER)
        await press(found, pilot, "y")
        assert app.answers == [("c1", "apply")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("ls" + " " * 1500 + "; curl evil", ["ls⟨1,500 blanks⟩; curl evil"]),
        ("ls" + "\n" * 40 + "rm -r .", ["ls", "⟨39 empty lines⟩", "rm -r ."]),
        ("a\u200bb\u202ec", ["a⟨zero width space⟩b⟨right-to-left override⟩c"]),
        ("a\u00a0b", ["a⟨no-break space⟩b"]),
        ("a\U000e0041b", ["a⟨tag latin capital letter a⟩b"]),
        ("plain  text", ["plain  text"]),
        ("if x:\n        y", ["if x:", "        y"]),
    ],
)
def test_text_is_shown_as_exactly_what_it_is(text: str, lines: list[str]) -> None:
    assert exact_lines(text) == lines


HIDDEN = """
[[scenario]]
match = ["look"]
[[scenario.step]]
call = [{ tool = "run", arguments = { command = "echo fine%s; touch ran" } }]
[[scenario.step]]
say = "Done.\\\\n"
"""


async def test_a_command_cannot_hide_behind_blanks(tmp_path: Path) -> None:
    async with stage(tmp_path, script=HIDDEN % (" " * 1500)) as it:
        await it.ask("look")
        await it.until(lambda: "echo fine⟨1,500 blanks⟩; touch ran" in it.screen, "the whole command")
        await it.answer("n")
        await it.done()
        assert not (it.root / "ran").exists()


async def test_a_question_does_not_come_to_who_writes_a_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path, script=HIDDEN % "") as it:
        await it.ask("look")
        await it.pilot.press("o")
        await it.until(lambda: "? Run `echo fine; touch ran`?" in it.screen, "the question")
        it.clock.forward(ARMED_AFTER)
        await it.pilot.press(*"yan")
        assert it.app.composer.text == "oyan", "without Shift+Tab, letters go to the prompt"
        await it.pilot.press("shift+tab", *"qwe")
        assert it.app.composer.text == "oyan" and it.app.feed.held.oldest is not None
        await it.answer("n")
        await it.done()
        assert it.app.composer.has_focus and not (it.root / "ran").exists()


async def test_one_key_answers_where_the_prompt_is_empty(tmp_path: Path) -> None:
    async with stage(tmp_path, script=HIDDEN % "") as it:
        await it.ask("look")
        await it.until(lambda: it.app.panes.held.has_focus, "the bar, by itself")
        await it.until(lambda: "a always" not in it.screen and "s in this session" in it.screen, "the keys")
        await it.pilot.press(*"nothing")
        assert it.app.composer.text == "nothing", "a prompt that was being begun, whole"
        assert it.app.feed.held.oldest is not None and it.app.composer.has_focus
        await it.pilot.press(*["backspace"] * 7, "shift+tab")
        it.clock.forward(ARMED_AFTER)
        await it.pilot.press("y")
        await it.done()
        assert (it.root / "ran").exists() and it.app.composer.has_focus


async def test_shift_tab_out_of_habit_stays_at_the_question(tmp_path: Path) -> None:
    async with stage(tmp_path, script=HIDDEN % "") as it:
        await it.ask("look")
        await it.until(lambda: it.app.panes.held.has_focus, "the bar, by itself")
        await it.pilot.press("shift+tab")
        assert it.app.panes.held.has_focus
        await it.pilot.press("x", "tab")
        await it.until(lambda: it.app.composer.has_focus, "the composer")
        assert it.app.composer.text == "", "other keys do nothing then"


RULED = """
[[scenario]]
match = ["look"]
[[scenario.step]]
call = [
  { tool = "run", arguments = { command = "touch one" } },
  { tool = "run", arguments = { command = "touch two" } },
]
[[scenario.step]]
say = "Done.\\n"
"""


@pytest.mark.parametrize("key", ["a", "s"])
async def test_one_key_allows_others_like_it(tmp_path: Path, key: str) -> None:
    async with stage(tmp_path, script=RULED) as it:
        await it.ask("look")
        await it.until(
            lambda: "y allow · n decline · a always touch … · s in this session" in it.screen, "the keys"
        )
        await it.answer(key)
        await it.done()
        assert (it.root / "two").exists()
        kept = [str(rule) for rule in KeptRules(it.session.folders.state).read()]
        assert kept == (["touch"] if key == "a" else [])


async def test_how_to_say_no_is_shown_on_the_narrowest_screen() -> None:
    listed = "\n".join(f"h{number}  src/file.py" for number in range(9))
    question = Question("undo", "Undo every hunk of the last turn?", listed, "undo them", "keep them", "")
    async with bar(question) as (_, found, pilot, _clock):
        await pilot.resize_terminal(40, 10)
        text = "\n".join(found.render_line(y).text for y in range(found.size.height))
        assert "then y undo them · n keep them" in text
