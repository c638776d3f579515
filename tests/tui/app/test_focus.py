"""Which pane takes the keys: after the terminal was left, after a question, and after an answer to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from tests.tui.stage import stage


@pytest.mark.parametrize("back", ["before", "behind"])
async def test_the_composer_takes_keys_however_the_terminal_was_left(tmp_path: Path, back: str) -> None:
    async with stage(tmp_path, server=False) as it:
        it.app.post_message(events.AppBlur())
        await it.pilot.pause()
        it.app.actions.help()  # another screen comes while the terminal is left
        await it.until(lambda: len(it.app.screen_stack) > 1, "the help")
        if back == "before":
            it.app.post_message(events.AppFocus())
            await it.pilot.pause()
        await it.pilot.press("u", "n", "d")
        assert "und" in it.screen, "it takes what is typed"
        await it.pilot.press("escape")
        await it.until(lambda: len(it.app.screen_stack) == 1, "the panes")
        await it.pilot.press("x")
        assert it.app.composer.text == "x"


@pytest.mark.parametrize("key", ["y", "n", "tab"])
async def test_after_the_question_whether_to_undo_the_editor_takes_the_keys_again(
    tmp_path: Path, key: str
) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2")
        assert it.app.editor.has_focus
        await it.pilot.press("shift+f9")
        await it.until(lambda: it.app.panes.held.has_focus, "the question")
        it.clock.forward(1.0)
        await it.pilot.press(key)
        await it.until(lambda: not it.app.panes.held.confirms, "the answer")
        await it.pilot.pause()
        assert it.app.editor.has_focus, "Ctrl+Z undoes there, and suspends in the composer"


@pytest.mark.parametrize("text", ["n", "y", "Yes"])
async def test_an_answer_in_the_composer_is_no_prompt(tmp_path: Path, text: str) -> None:
    async with stage(tmp_path) as it:
        it.session.review = True
        await it.ask("make it polite")
        await it.until(lambda: it.app.panes.held.question, "the question")
        await it.ask(text)
        await it.until(lambda: "answers:" in it.app.status.status.message, "what answers")
        assert it.session.running and it.app.composer.text == text
        assert it.app.panes.held.question is not None
        it.session.interrupt()


async def test_a_question_is_as_young_as_the_look_at_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.session.review = True
        await it.ask("make it polite")
        await it.until(lambda: it.app.panes.held.question, "the question")
        await it.pilot.press("shift+tab")
        it.clock.forward(1.0)
        it.app.post_message(events.AppBlur())
        it.app.post_message(events.AppFocus())
        await it.pilot.pause()
        await it.pilot.press("y")
        assert "press it again" in it.screen and it.app.panes.held.question is not None
        it.session.interrupt()
