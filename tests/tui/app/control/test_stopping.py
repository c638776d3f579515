"""Esc: what it stops, in which order, and what it leaves; and taking back what waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.ledger import shared_lock
from edits.ledger.ledger import Ledger
from session.base.events import HunkLanded
from tests.tui.stage import GREETER, Stage, stage
from tui.app.panes.held_bar import Question

ENDLESS = f"""
[[scenario]]
match = ["*"]

[[scenario.step]]
say = "{"on and on and " * 200}"
"""
ADDED = GREETER.replace("Says hello.", "Says hello and good-bye.")


async def land(it: Stage) -> HunkLanded:
    """Land one hunk in the file, as from a turn."""
    lines = (
        HunkLine(LineKind.OLD, '"""Says hello."""'),
        HunkLine(LineKind.NEW, '"""Says hello and good-bye."""'),
    )
    landed = await it.session.hunks.land(Hunk("greeter.py", Action.UPDATE, Format.V4A, lines))
    assert isinstance(landed, HunkLanded)
    await it.until(lambda: it.app.shown_file.marks.find(landed.hunk), "the mark")
    return landed


@pytest.mark.parametrize("key", ["f9", "f10", "ctrl+s"])
async def test_esc_stops_what_waits_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(shared_lock, "TELL_AFTER", 0.02)
    async with stage(tmp_path, server=False) as it:
        file = it.root / "greeter.py"
        landed = await land(it)
        if key == "f10":
            await it.session.hunks.undo(landed.hunk)
            await it.until(lambda: it.app.editor.buffer.text == GREETER, "the undo")
        if key == "ctrl+s":
            await it.pilot.press("f2", "x")
        before = file.read_text()
        with Ledger(it.session.folders.ledger).exclusive():
            await it.pilot.press(key)
            await it.until(lambda: "waiting for process" in it.chat, "the wait")
            await it.pilot.press("escape")
            await it.until(lambda: "stopped waiting" in it.app.status.status.message, "the end of the wait")
        await it.session._edit_thread.run(lambda: None)
        assert file.read_text() == before, "what was stopped does not happen later"
        await it.pilot.press(key)
        await it.until(lambda: file.read_text() != before, "what the key does when nobody is in the way")


async def test_esc_gives_up_one_thing_after_the_other(tmp_path: Path) -> None:
    async with stage(tmp_path, script=ENDLESS, rate=25) as it:
        app, prompts = it.app, it.app.controls.prompts
        # The first Esc stops the turn and closes what lies over the panes; what waited is back in the prompt.
        await it.ask("talk")
        for text in ("first", "second"):
            it.session.queue(text)
        app.panes.held.confirm(Question("asked", "Really?"))
        app.controls.palette.show()
        await it.until(lambda: app.overlays.covered, "the help")
        it.key("escape", "\x1b")
        await it.until(lambda: not app.overlays.covered, "the panes")
        assert not it.session.running and app.panes.held.question is None
        assert app.composer.draft == "first\n\nsecond"
        assert app.status.status.message == "Queued messages are back in the prompt"
        assert app.status.status.level == "warning"
        await it.done()
        assert "Stopped. No files changed." in it.chat

        # Without a turn it hides the suggestions, and leaves the search and the selection in the chat.
        app.composer.put("")
        await it.pilot.press("/", "u")
        await it.until(lambda: app.panes.suggestions.display, "the suggestions")
        app.status.say("old news")
        await it.pilot.press("escape")
        assert not app.panes.suggestions.display and app.composer.draft == "/u"
        assert app.status.status.message == ""
        assert await app.shown_file.open("greeter.py")
        app.controls.find.open()
        assert app.panes.find.display
        prompts.interrupt()
        await it.until(lambda: not app.panes.find.display, "the end of the search")

        # A turn that is stopped with nothing behind it says nothing of messages.
        app.composer.put("")
        await it.ask("talk again")
        it.key("escape", "\x1b")
        await it.done()
        assert "back in the prompt" not in app.status.status.message and app.composer.draft == ""


async def test_the_stop_is_told_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, script=ENDLESS, rate=25) as it:
        await it.ask("talk")
        await it.until(lambda: "on and on" in it.chat, "the answer")
        it.app.controls.prompts.stop_turn()
        assert it.app.status.status.phase == "stopping" and not it.session.running
        said = it.chat
        await it.done()
        assert it.chat.replace("· Stopped. No files changed.", "").startswith(said.rstrip()[:-1])
