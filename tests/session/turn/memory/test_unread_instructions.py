"""Tests that instructions that cannot be read are told, and once."""

from __future__ import annotations

from pathlib import Path

from session.base.events import Notice
from tests.session.talking import PLAIN, colours_project, talking


async def test_instructions_that_cannot_be_read_are_told_once(tmp_path: Path) -> None:
    root = colours_project(tmp_path)
    (root / "AGENTS.md").write_bytes("日本語のメモ\n".encode("shift-jis"))
    async with talking(root, PLAIN) as talk:
        for turn in ("t1", "t2"):
            talk.session.submit("hello")
            assert (await talk.ended(turn)).status == "completed"
        told = [event.text for event in talk.all(Notice) if "AGENTS.md" in event.text]
    assert told == ["AGENTS.md cannot be read: not UTF-8 text, so the model does not follow it"]
