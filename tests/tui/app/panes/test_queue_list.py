"""Messages that wait: shown, edited, removed, sent at once, in the real app."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import Stage, stage


async def waiting(it: Stage) -> None:
    """A running turn with two messages behind it."""
    await it.ask("make it polite")
    for text in ("first thing", "second thing"):
        it.app.composer.insert(text)
        await it.pilot.press("tab")
    await it.until(lambda: len(it.app.panes.queue.messages) == 2, "the messages")


async def test_what_waits_is_shown_and_can_be_edited_and_removed(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=25) as it:
        await waiting(it)
        await it.until(lambda: "next turn: first thing" in it.screen, "the list")
        assert "second thing" in it.screen and "after this hunk" in it.screen
        await it.pilot.press("shift+f6", "x")
        await it.until(lambda: [text for _, text in it.app.panes.queue.messages] == ["second thing"], "one")
        await it.pilot.press("enter")
        await it.until(lambda: it.app.composer.text == "second thing", "the draft")
        assert it.app.composer.has_focus and not it.app.panes.queue.display
        assert it.session.running
        it.session.interrupt()


async def test_one_is_sent_now_and_escape_brings_the_others_back(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=25) as it:
        await waiting(it)
        await it.pilot.press("shift+f6", "down", "n")
        await it.until(lambda: "second thing" in it.chat, "the redirect")
        assert [text for _, text in it.app.panes.queue.messages] == ["first thing"]
        await it.pilot.press("escape")
        assert it.app.composer.has_focus and it.session.running, "in the list it leads out of it"
        await it.pilot.press("escape")
        await it.until(lambda: it.app.composer.text == "first thing", "the draft")
        assert not it.app.panes.queue.display


async def test_a_key_sends_the_draft_after_the_hunk(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=60) as it:
        await it.ask("make it polite")
        await it.until(lambda: "h1" in it.chat, "the hunk")
        it.app.composer.insert("make it polite again")
        await it.pilot.press("shift+f5")
        await it.until(lambda: "make it polite again" in it.chat, "the redirect")
        assert 'title = "dear"' in (it.root / "greeter.py").read_text(), "the hunk has landed whole"
        await it.until(lambda: "Stopped. 1 landed hunk stays." in it.chat, "how the first turn ended")
        it.session.interrupt()
