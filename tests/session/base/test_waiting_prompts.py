"""The prompts that wait, from the events that tell of them: each is known by its place."""

from __future__ import annotations

import pytest

from session.base.events import Event, PromptQueued, PromptSubmitted, PromptsUnqueued, TurnEnded
from session.base.waiting_prompts import WaitingPrompts


def queued(*texts: str) -> list[Event]:
    return [PromptQueued(text, at) for at, text in enumerate(texts, 1)]


def after_hunk(text: str) -> Event:
    return PromptQueued(text, 1, when="hunk")


ABA = queued("a", "b", "a")
ABA_LISTED = [(1, "a"), (2, "b"), (3, "a")]

FOLLOWED: list[tuple[str, list[Event], list[tuple[int, str]]]] = [
    ("nothing waits", [], []),
    ("each has its number", ABA, ABA_LISTED),
    ("the third goes", [*ABA, PromptsUnqueued(("a",), 2, 3)], [(1, "a"), (2, "b")]),
    ("the first goes", [*ABA, PromptsUnqueued(("a",), 2, 1)], [(1, "b"), (2, "a")]),
    ("all go", [*ABA, PromptsUnqueued(("a", "b", "a"), 0)], []),
    ("all but the one for a hunk", [*ABA, after_hunk("b"), PromptsUnqueued(("a", "b", "a"), 0)], [(0, "b")]),
    ("only the one for a hunk", [*queued("a"), after_hunk("a"), PromptsUnqueued(("a",), 1, 0)], [(1, "a")]),
    ("of an older journal: by its text", [*queued("a", "b"), PromptsUnqueued(("b",), 1)], [(1, "a")]),
    (
        "of an older journal: for a hunk",
        [*queued("b"), after_hunk("a"), PromptsUnqueued(("a",), 1)],
        [(1, "b")],
    ),
    ("the other one for a hunk", [after_hunk("a"), after_hunk("a\n\nb")], [(0, "a\n\nb")]),
    ("the first is sent", [*ABA, PromptSubmitted("t2", "a", waiting=2)], [(1, "b"), (2, "a")]),
    ("a redirect leaves them", [*ABA, PromptSubmitted("t2", "a", waiting=3)], ABA_LISTED),
    ("the hunk has ended", [after_hunk("c"), *ABA, PromptSubmitted("t2", "c", waiting=3)], ABA_LISTED),
    (
        "overtaken: queued, and there once",
        [after_hunk("c"), PromptSubmitted("t2", "x"), PromptQueued("c", 1)],
        [(1, "c")],
    ),
    ("other events", [*queued("a"), TurnEnded("t1", "completed")], [(1, "a")]),
    (
        "older ones are unknown: sent",
        [PromptQueued("d", 4), PromptSubmitted("t2", "a", waiting=3)],
        [(3, "d")],
    ),
    ("older ones are unknown: taken back", [PromptQueued("d", 4), PromptsUnqueued(("b",), 3, 2)], [(3, "d")]),
    ("the known one is taken back", [PromptQueued("d", 4), PromptsUnqueued(("d",), 3, 4)], []),
]


@pytest.mark.parametrize(
    ("events", "listed"), [row[1:] for row in FOLLOWED], ids=[row[0] for row in FOLLOWED]
)
def test_what_waits_follows_from_the_events(events: list[Event], listed: list[tuple[int, str]]) -> None:
    waiting = WaitingPrompts()
    for event in events:
        before = waiting.listed
        assert waiting.take(event) == (waiting.listed != before)
    assert waiting.listed == listed


TAKEN: list[tuple[int | None, list[PromptsUnqueued], list[tuple[int, str]]]] = [
    (3, [PromptsUnqueued(("a",), 2, 3)], [(0, "h"), (1, "a"), (2, "b")]),
    (1, [PromptsUnqueued(("a",), 2, 1)], [(0, "h"), (1, "b"), (2, "a")]),
    (0, [PromptsUnqueued(("h",), 3, 0)], ABA_LISTED),
    (None, [PromptsUnqueued(("h",), 3, 0), PromptsUnqueued(("a", "b", "a"), 0)], []),
    (4, [], [(0, "h"), *ABA_LISTED]),
    (-1, [], [(0, "h"), *ABA_LISTED]),
]


@pytest.mark.parametrize(("number", "told", "left"), TAKEN)
def test_what_is_taken_back_here_is_what_the_session_will_tell(
    number: int | None, told: list[PromptsUnqueued], left: list[tuple[int, str]]
) -> None:
    waiting = WaitingPrompts()
    for event in [*ABA, after_hunk("h")]:
        waiting.take(event)
    assert waiting.take_back(number) == told
    assert waiting.listed == left
