"""What is decided about hunks while their turn runs, commands in place of prompts, and what else keys do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from session.base.events import HunkLanded, PromptSubmitted
from tests.tui.app.control.test_hunk_acts import FILES, asked, land, message, reviewed, tells
from tests.tui.stage import Stage, stage
from tui.app.control.background import BackgroundTasks
from tui.app.control.file_control import _clock
from tui.app.overlays.overlay import ClosingScreen

HELD = """
models = ["gpt-6-luna"]
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "manifest"
path = "requirements.txt"
lines = '''
 click
+left-pad
'''
[[scenario.step]]
patch = ["manifest"]
[[scenario.step]]
stall = 600.0

[[scenario]]
match = ["*"]
[[scenario.step]]
say = "Just words.\\n"
"""


@asynccontextmanager
async def held(folder: Path) -> AsyncIterator[tuple[Stage, list[PromptSubmitted]]]:
    """A turn whose one hunk is held, and the prompts that were sent."""
    async with stage(folder, script=HELD, files={"requirements.txt": "click\n"}) as it:
        sent: list[PromptSubmitted] = []

        def hear(event: object) -> None:
            if isinstance(event, PromptSubmitted):
                sent.append(event)

        it.app.controls.feed.on_heard = hear
        await it.ask("add it")
        await it.until(lambda: it.app.panes.held.question is not None, "the question")
        yield it, sent
        it.session.interrupt()


async def test_a_held_hunk_is_kept_in_the_review(tmp_path: Path) -> None:
    async with held(tmp_path) as (it, sent):
        review = it.app.controls.review
        shown = await review.lines(reviewed(it, "h1"))
        assert ("+", "left-pad") in shown
        review.keep(reviewed(it, "h1"))
        await it.until(lambda: it.app.shown_file.marks.find("h1"), "the landing")
        assert (it.root / "requirements.txt").read_text() == "click\nleft-pad\n" and len(sent) == 1
        # A word on a landed hunk stops the turn, undoes the hunk, and is sent.
        review.reject(reviewed(it, "h1"), "no new packages")
        await it.until(lambda: len(sent) == 2, "the word")
        assert sent[1].text == "I rejected h1 in requirements.txt: no new packages"
        assert sent[1].typed == "no new packages"
        assert (it.root / "requirements.txt").read_text() == "click\n"
        await it.until(lambda: "Just words." in it.chat, "the answer")


async def test_a_held_hunk_is_rejected_with_and_without_a_word(tmp_path: Path) -> None:
    async with held(tmp_path) as (it, sent):
        review = it.app.controls.review
        review.reject(reviewed(it, "h1"), "")
        await it.until(lambda: "declined" in it.chat, "the end of the hunk")
        assert it.session.running and len(sent) == 1 and "rejected:" not in it.chat
    (tmp_path / "again").mkdir()
    async with held(tmp_path / "again") as (it, sent):
        it.app.controls.review.reject(reviewed(it, "h1"), "not this one")
        await it.until(lambda: len(sent) == 2, "the word")
        assert (sent[1].text, sent[1].typed) == (
            "I rejected h1 in requirements.txt: not this one",
            "not this one",
        )
        assert (it.root / "requirements.txt").read_text() == "click\n"


async def test_a_held_hunk_is_edited_before_it_lands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nsed -i s/left-pad/right-pad/ "$1"\n')
    script.chmod(0o755)
    async with held(tmp_path) as (it, _):
        review = it.app.controls.review
        monkeypatch.setenv("VISUAL", "false")
        review.edit(reviewed(it, "h1"))
        await it.until(lambda: "ended with 1" in message(it), "the problem")
        monkeypatch.setenv("VISUAL", str(script))
        review.edit(reviewed(it, "h1"))
        await it.until(lambda: message(it) == "h1 lands as you edited it", "the edit")
        await it.until(
            lambda: (it.root / "requirements.txt").read_text() == "click\nright-pad\n", "the landing"
        )
        review.edit(reviewed(it, "h1"))
        await it.until(lambda: message(it).startswith("cannot edit h1"), "why not")


def holds(it: Stage, text: str) -> bool:
    """Whether the file on disk has a text."""
    return text in (it.root / "other.py").read_text()


def ready(it: Stage) -> bool:
    """Whether the screen over the panes takes keys."""
    screen = it.app.screen
    return isinstance(screen, ClosingScreen) and screen.takes_keys.is_set()


async def test_commands_show_and_tell_where_it_fits(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, prompts = it.app, it.app.controls.prompts
        prompts.ask_to_undo_turn()
        assert message(it) == "no turn of this session has a landed hunk"
        app.composer.put("")
        prompts.send("/diff", queued=False)
        await it.until(lambda: app.composer.draft == "/diff", "what failed")
        app.composer.put("")
        one = await land(it, "other.py", "one = 1", "one = '```'", turn="t1")
        two = await land(it, "other.py", "three = 3", "three = 30", turn="t1")
        prompts.send("/diff", queued=False)
        await it.until(lambda: "three = 30" in it.chat, "the patch")
        assert app.composer.draft == "" and "one = '```'" in it.chat
        prompts.send("/lock " + " ".join(FILES), queued=False)
        await it.until(lambda: "lock" in message(it), "the answer")
        for command in ("/context", "/help", "/review", "/theme"):
            prompts.send(command, queued=False)
            await it.until(lambda: isinstance(app.screen, ClosingScreen), command)
            await it.until(lambda: ready(it), "a screen that takes keys")
            app.overlays.uncover()
            await it.until(lambda: not app.overlays.covered, "the panes")
        prompts.send(f"/drop {two}", queued=False)
        await it.until(lambda: app.shown_file.marks.find(two) is None, "the drop")
        prompts.send("/land h9", queued=False)
        await it.until(lambda: message(it) == "h9 is not held", "why not")
        prompts.send("/decline", queued=False)
        await it.until(lambda: message(it) == "nothing is held", "why not")
        app.status.say("")
        prompts.send("/land all", queued=False)
        await it.until(lambda: message(it) == "nothing is held", "why not")
        for verdict, text in (("reject", "one = '```'"), ("apply", "one = 1\n")):
            prompts.ask_to_undo_turn()
            question = asked(it)
            assert question is not None and question.text == f"{one}  other.py"
            prompts.answer(question.name, verdict)  # type: ignore[arg-type] # As a key gives it.
            assert asked(it) is None
            await it.session._edit_thread.run(lambda: None)
            await it.until(partial(holds, it, text), verdict)
        await it.until(lambda: f"Undone in other.py: {one}" in it.chat, "what was undone")
        prompts.draft_changed("kept")
        assert it.session.draft.read() == "kept"
        prompts.send("/quit", queued=False)
        await it.until(lambda: app._exit, "the end")


async def test_the_prompt_is_edited_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nprintf "more\\n\\n" >> "$1"\n')
    script.chmod(0o755)
    async with stage(tmp_path, server=False) as it:
        app, prompts = it.app, it.app.controls.prompts
        app.composer.put("text ")
        for editor, told, draft in (
            ("false", "ended with 1", "text "),
            ("true", "nothing was changed", "text "),
            (str(script), "Enter sends what you wrote", "text more"),
        ):
            monkeypatch.setenv("VISUAL", editor)
            prompts.edit_outside()
            await it.until(partial(tells, it, told), told)
            assert app.composer.draft.strip() == draft.strip()


async def test_replacing_one_match_goes_on_behind_it(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"w.txt": "a x\nb x x\nc x\n"}, server=False) as it:
        assert await it.app.shown_file.open("w.txt")
        it.app.editor.focus()
        await it.pilot.press("ctrl+f", "x", "enter", "tab", "y", "y", "enter")
        assert it.app.editor.buffer.text == "a x\nb yy x\nc x\n"
        assert it.app.editor.selected == ((1, 5), (1, 6)), "the match behind it in its row"
        await it.pilot.press("enter")
        assert it.app.editor.buffer.text == "a x\nb yy yy\nc x\n" and min(it.app.editor.selected) == (2, 2)


async def test_a_screen_that_goes_away_ends_what_waits() -> None:
    tasks = BackgroundTasks(lambda line, level: None)
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    tasks.start(waits(), "waiting")
    await asyncio.sleep(0)
    tasks.stop()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert ended == ["waiting"], "at once, and not only when the app is closed"
    await tasks.close()


def test_the_time_of_a_text_is_told_with_the_day_unless_that_is_today() -> None:
    assert re.fullmatch(r"1970-01-0[12] \d\d:\d\d|1969-12-31 \d\d:\d\d", _clock(60.0))


async def test_without_a_focus_the_next_pane_is_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        it.app.set_focus(None)
        it.app.pane_control.focus_next()
        assert it.app.focused is it.app.composer


async def test_a_hunk_that_lands_is_heard_once(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        heard: list[str] = []

        def hear(event: object) -> None:
            if isinstance(event, HunkLanded):
                heard.append(event.hunk)

        it.app.controls.feed.on_heard = hear
        assert [await land(it, "other.py", "one = 1", "one = 10")] == heard
