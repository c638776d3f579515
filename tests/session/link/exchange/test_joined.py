"""Pieces of one text that come together are handed on as one, and nothing else changes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from session.link.exchange.exchange import joined
from session.protocol.events import Created, Garbled, ReasoningDelta, TextDelta, ToolInputDelta, WireEvent

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
