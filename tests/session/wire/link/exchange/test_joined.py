"""Pieces of one text that come together are handed on as one, and nothing else changes."""

from __future__ import annotations

import json
from collections import deque
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from session.wire.link.exchange import BATCH, _batches, joined
from session.wire.protocol.events import (
    Created,
    Garbled,
    ReasoningDelta,
    TextDelta,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.responses import ResponseDecoder

TEXT = st.text(max_size=3)
EVENTS = st.one_of(
    st.builds(TextDelta, TEXT),
    st.builds(ReasoningDelta, TEXT),
    st.builds(
        ToolInputDelta, st.sampled_from("ab"), st.just("call"), st.just("tool"), TEXT, st.sampled_from([True])
    ),
    st.builds(Garbled, st.just("what")),
    st.builds(Created, st.just("r1")),
)


def source(event: WireEvent) -> object:
    """Which text an event belongs to; the event itself where it brings none."""
    match event:
        case ToolInputDelta(item_id=item):
            return item
        case TextDelta() | ReasoningDelta():
            return type(event)
    return event


def letters(events: list[WireEvent]) -> list[object]:
    """The events with their texts letter by letter."""
    return [
        (source(event), letter)
        for event in events
        for letter in (event.text if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta) else "!")
    ]


@given(st.lists(EVENTS))
def test_the_same_texts_come_in_the_same_order(batch: list[WireEvent]) -> None:
    assert letters(joined(batch)) == letters(batch)


@given(st.lists(EVENTS))
def test_no_two_pieces_of_one_text_are_behind_each_other(batch: list[WireEvent]) -> None:
    for one, other in pairwise(joined(batch)):
        assert source(one) != source(other) or not hasattr(one, "text") or isinstance(one, Garbled)


def test_many_short_frames_are_read_as_one_text() -> None:
    text = [f"word {number} " for number in range(300)]
    frames = deque(
        json.dumps({"type": "response.output_text.delta", "item_id": "a", "output_index": 0, "delta": piece})
        .encode()
        for piece in text
    )  # fmt: skip
    size = sum(map(len, frames))
    batches = list(_batches(ResponseDecoder(), frames))
    assert "".join(event.text for (event,) in batches if isinstance(event, TextDelta)) == "".join(text)
    assert len(batches) <= size // BATCH + 1
