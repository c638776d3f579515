"""A prompt that waits for a hunk, as a machine: what happens in the session, and what is sent then."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from session.base.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    TextDelta,
    TurnEnded,
)
from session.turn.turns import AfterHunk

H1, H2 = HunkOpened("t1", "h1", "a.py", "update"), HunkOpened("t1", "h2", "b.py", "update")
ENDS: dict[str, Any] = {
    "landed": HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2),
    "refused": HunkRefused("t1", "h1", "a.py", "no_match", "why"),
    "held": HunkHeld("t1", "h1", "a.py", "secret", "why"),
}
LANDED_2 = HunkLanded("t1", "h2", "b.py", "applied", 1, 1, 2)
STOPPED, DONE, FAILED = (TurnEnded("t1", status) for status in ("interrupted", "completed", "failed"))
Step = Event | str | None
"""An event of the session, a prompt of the user, or None: the user takes it back."""

ORDERS: list[tuple[str, list[Step], list[tuple[str, str]]]] = [
    ("no hunk", ["a"], [("submit", "a")]),
    *((f"the hunk is {how}", [H1, "a", end], [("submit", "a")]) for how, end in ENDS.items()),
    ("it ended before", [H1, ENDS["landed"], "a"], [("submit", "a")]),
    ("it waits", [H1, "a", TextDelta("t1", "more")], []),
    ("two prompts are one", [H1, "a", "b", ENDS["landed"]], [("submit", "a\n\nb")]),
    ("once", [H1, "a", ENDS["landed"], H2, LANDED_2, DONE], [("submit", "a")]),
    ("for the oldest hunk, not a later one", [H1, H2, "a", LANDED_2], []),
    ("for the oldest that is open", [H1, H2, ENDS["landed"], "a", LANDED_2], [("submit", "a")]),
    ("cut off: the next one", [H1, "a", HunkDropped("t1", "h1", "a.py"), H2, LANDED_2], [("submit", "a")]),
    ("another is cut off", [H1, H2, "a", HunkDropped("t1", "h2", "b.py"), ENDS["landed"]], [("submit", "a")]),
    ("cut off, and no other", [H1, "a", HunkDropped("t1", "h1", "a.py"), DONE], [("submit", "a")]),
    ("the turn ends", [H1, "a", DONE], [("submit", "a")]),
    ("the turn fails", [H1, "a", FAILED], [("submit", "a")]),
    ("the user stops the turn", [H1, "a", STOPPED], []),
    ("after a stop nothing is open", [H1, STOPPED, "a"], [("submit", "a")]),
    ("overtaken", [H1, "a", PromptSubmitted("t2", "now"), STOPPED, DONE], [("queue", "a")]),
    ("sent by nobody", [H1, PromptSubmitted("t2", "now"), ENDS["landed"]], []),
    ("taken back", [H1, "a", None, ENDS["landed"], DONE], []),
    ("another after one taken back", [H1, "a", None, "b", ENDS["landed"]], [("submit", "b")]),
]


@pytest.mark.parametrize(("steps", "sent"), [row[1:] for row in ORDERS], ids=[row[0] for row in ORDERS])
async def test_what_is_sent_and_when(steps: list[Step], sent: list[tuple[str, str]]) -> None:
    calls: list[tuple[str, str]] = []
    turns: Any = SimpleNamespace(
        running=True,
        queued=("x", "y"),
        submit=lambda text: calls.append(("submit", text)),
        queue=lambda text: calls.append(("queue", text)),
    )
    told: list[Event] = []
    after = AfterHunk(turns, told.append)
    waiting: list[str] = []
    for step in steps:
        match step:
            case str():
                after.submit(step)
                waiting = [*waiting, step] if not calls else []
                if waiting:
                    assert told[-1] == PromptQueued("\n\n".join(waiting), 1, when="hunk")
            case None:
                assert after.take_back() == waiting and after.take_back() == []
                assert told[-1] == PromptsUnqueued(tuple(waiting), waiting=2, number=0)
                waiting = []
            case _:
                before = list(calls)
                after.take(step)
                assert calls == before, "it is sent once all have heard of the event"
                await asyncio.sleep(0)
    assert calls == sent


async def test_without_a_turn_it_is_sent_at_once() -> None:
    calls: list[str] = []
    turns: Any = SimpleNamespace(running=False, queued=(), submit=calls.append)
    after = AfterHunk(turns, lambda event: None)
    after.take(H1)
    after.submit("a")
    assert calls == ["a"] and after.take_back() == []
