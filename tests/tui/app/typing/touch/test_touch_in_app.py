"""Typing in a hunk that just landed: the turn stops, and saving sends what was changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import GREETER, POLITE, Stage, stage

SCRIPT = (
    POLITE
    + """
[[scenario.step]]
patch = ["greet"]

[[scenario.hunk]]
id = "held"
path = ".github/workflows/ci.yml"
action = "add"
lines = '''
+on: push
'''

[[scenario.step]]
patch = ["held"]
"""
)
"""A hunk that lands, and one that needs an OK, so that the turn runs for as long as the test wants."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hunk be meant as soon as it is there; the tests say otherwise where that matters."""
    stands(monkeypatch, 0.0)


def stands(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr("tui.app.typing.touch_control.STOOD", seconds)


async def at_the_fresh_hunk(it: Stage) -> None:
    """A turn that runs, and the cursor of the editor put into its first hunk."""
    await it.ask("make it polite")
    await it.until(lambda: it.app.shown_file.marks.find("h1"), "the first hunk")
    await it.until(lambda: it.app.panes.held.question is not None, "the second hunk")
    await it.app.shown_file.order.settled()
    await it.pilot.press("f8")
    await it.until(lambda: it.app.shown_file.path == "greeter.py", "the file of the first")
    assert it.app.shown_file.hands_on, "no hunk takes the view away again"
    await it.pilot.press("f2", "down", "up", "end")
    assert it.session.running


def bodies(it: Stage) -> list[str]:
    """What was sent to the server."""
    return [str(request.body) for request in it.partner.requests] if it.partner is not None else []


async def test_typing_in_a_fresh_hunk_stops_the_turn_and_saving_sends_the_change(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x")
        assert not it.session.running, "the first key stops"
        await it.pilot.press("y", "z")
        await it.until(lambda: "h1 edited: Ctrl+S sends it" in it.screen, "the status")
        assert "xyz" not in (it.root / "greeter.py").read_text(), "no file is written unasked"
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "I changed your hunk h1 in greeter.py" in it.chat, "the note")
        saved = (it.root / "greeter.py").read_text()
        assert saved.count("xyz") == 1
        changed = next(line for line in saved.splitlines() if "xyz" in line)
        diff = f"+{changed}", f"-{changed.replace('xyz', '')}"
        await it.until(lambda: any(all(line in sent for line in diff) for sent in bodies(it)), "the diff")
        assert "h1 edited" not in it.screen
        await it.pilot.press("escape")


async def test_a_cursor_that_stood_there_already_edits_no_hunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands(monkeypatch, 600.0)
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x")
        assert it.session.running, "a key that was on its way"
        stands(monkeypatch, 0.0)
        await it.pilot.press("y")
        assert it.session.running, "the cursor was not put there anew"
        assert "xy" in it.app.editor.buffer.text, "what was typed stands"
        await it.pilot.press("escape")


async def test_typing_beside_a_fresh_hunk_lets_the_turn_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("ctrl+end", "x")
        assert it.session.running
        await it.pilot.press("escape")


async def test_escape_and_undo_keep_the_change_from_being_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x", "escape")
        await it.until(lambda: "Not sent" in it.screen, "the message")
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "saved greeter.py" in it.screen, "the save")
        assert "I changed" not in it.chat


async def test_a_change_that_is_taken_back_is_not_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x", "ctrl+z")
        await it.until(lambda: not it.app.shown_file.dirty, "the undo")
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "h1 is as it was: nothing was sent" in it.screen, "the message")
        assert "I changed" not in it.chat and "h1 edited" not in it.screen


async def test_a_change_is_not_sent_when_its_file_is_closed(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x", "ctrl+f4")
        await it.answer("d")
        await it.until(lambda: it.app.shown_file.buffers.of("greeter.py") is None, "the end of the file")
        assert "h1 edited" not in it.screen and "x" not in (it.root / "greeter.py").read_text()


async def test_another_prompt_overtakes_the_change_and_its_text_stays(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        await it.pilot.press("x", "f4", *"just talk", "enter")
        await it.until(lambda: "just talk" in it.chat, "the prompt")
        assert "h1 edited" not in it.screen and it.app.shown_file.dirty
        await it.pilot.press("escape")


async def test_a_landed_hunk_that_is_rejected_with_a_word_stops_the_turn_first(tmp_path: Path) -> None:
    async with stage(tmp_path, script=SCRIPT, rate=1000) as it:
        await at_the_fresh_hunk(it)
        landed = it.app.feed.book.named("h1")
        assert landed is not None
        it.app.controls.review.reject(landed, "too stiff")
        assert not it.session.running, "the undo comes after the stop"
        await it.until(lambda: "I rejected h1 in greeter.py: too stiff" in it.chat, "the redirect")
        assert (it.root / "greeter.py").read_text() == GREETER
        await it.pilot.press("escape")
