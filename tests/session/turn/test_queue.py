"""The queue of prompts of a real session; its orders are in ``test_turns_orders``."""

from __future__ import annotations

from pathlib import Path

from session.base.events import PromptSubmitted, PromptsUnqueued
from tests.session.talking import talking

SCRIPT = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["long"]
[[scenario.step]]
say = "A long answer that goes on and on until somebody stops it or its last word is there.\\n"
"""


async def test_waiting_prompts_are_taken_back_by_their_number_or_all_at_once(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    rows: list[tuple[int | None, list[str], list[str]]] = [
        (5, [], ["short a", "short b", "short a", "short c"]),
        (0, [], ["short a", "short b", "short a", "short c"]),
        (-1, [], ["short a", "short b", "short a", "short c"]),
        (3, ["short a"], ["short a", "short b", "short c"]),
        (1, ["short a"], ["short b", "short c"]),
        (2, ["short c"], ["short b"]),
        (2, [], ["short b"]),
        (None, ["short b"], []),
        (None, [], []),
    ]
    async with talking(root, SCRIPT) as talk:
        for text in ("long", "short a", "short b", "short a", "short c"):
            talk.session.queue(text)
        for number, texts, left in rows:
            assert talk.session.unqueue(number) == texts
            assert list(talk.session._turns.queued) == left
        await talk.ended("t1")
        told = [PromptsUnqueued(tuple(texts), len(left), number) for number, texts, left in rows if texts]
        assert talk.all(PromptsUnqueued) == told, "nothing is told where nothing was taken back"
        assert [event.text for event in talk.all(PromptSubmitted)] == ["long"]
