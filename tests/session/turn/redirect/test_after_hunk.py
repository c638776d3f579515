"""A prompt that waits for the hunk being typed, on a real session with the real partner."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import HunkLanded, HunkOpened, PromptQueued, PromptSubmitted, PromptsUnqueued
from tests.session.talking import talking
from tests.session.turn.test_held_hunks import THREE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("one = 1\n")
    (folder / "b.py").write_text("two = 2\n")
    (folder / "package.json").write_text("{}\n")
    return folder


async def test_the_hunk_lands_and_then_the_prompt_redirects(root: Path) -> None:
    async with talking(root, THREE, rate=40) as talk:
        talk.session.submit("go")
        opened = await talk.until(HunkOpened)
        talk.session.after_hunk("go on otherwise")
        talk.session.after_hunk("and shorter")
        talk.partner.model.rate = float("inf")  # from the next answer on
        landed = await talk.until(HunkLanded)
        assert landed.hunk == opened.hunk
        sent = await talk.until(PromptSubmitted, lambda event: event.turn == "t2")
        assert (sent.text, sent.kind) == ("go on otherwise\n\nand shorter", "redirect")
        assert [event.when for event in talk.all(PromptQueued)] == ["hunk", "hunk"]
        await talk.ended("t2")
    assert (root / "a.py").read_text() == "one = 10\n"


async def test_it_is_taken_back_by_number_and_a_stop_sends_nothing(root: Path) -> None:
    async with talking(root, THREE, rate=40) as talk:
        talk.session.submit("go")
        await talk.until(HunkOpened)
        talk.session.queue("first")
        talk.session.queue("second")
        talk.session.after_hunk("soon")
        assert talk.session.unqueue(3) == [], "there are two"
        assert talk.session.unqueue(2) == ["second"]
        assert talk.session.unqueue(1) == ["first"] and talk.session.unqueue(1) == []
        talk.session.queue("first")
        assert talk.session.unqueue(0) == ["soon"] and talk.session.unqueue(0) == []
        told = await talk.until(PromptsUnqueued, lambda event: event.texts == ("soon",))
        assert told.waiting == 1
        talk.session.after_hunk("again")
        talk.session.interrupt()
        assert talk.session.unqueue() == ["again", "first"]
        await talk.ended("t1")
    assert [event.text for event in talk.all(PromptSubmitted)] == ["go"]
