"""Tests server-sent events split at any byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.wire.protocol.sse import EventStream, EventTooLarge
from tests.thorough import share

STREAM = (
    b"\xef\xbb\xbfevent: a\ndata: one\n\n: comment\ndata:two\r\ndata: lines\r\n\r\nid: 7\nretry: 1\n\n"
    b"data: last\r\rdata: cut"
)


@settings(max_examples=share(200, 40), deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_at_any_chunking(cuts: list[int]) -> None:
    edges = sorted({0, len(STREAM), *cuts})
    stream = EventStream()
    events = [data for a, b in pairwise(edges) for data in stream.feed(STREAM[a:b])]
    assert events == [b"one", b"two\nlines", b"last"]


@settings(max_examples=share(200, 40), deadline=None)
@given(st.lists(st.binary(max_size=32), max_size=8))
def test_any_bytes_give_the_same_events_joined_or_split(chunks: list[bytes]) -> None:
    cut, whole = EventStream(), EventStream()
    assert [data for part in chunks for data in cut.feed(part)] == whole.feed(b"".join(chunks))


@pytest.mark.parametrize("line", [b"x" * 40, b"data: " + b"x" * 10 + b"\n"])
def test_an_event_without_an_end_hits_the_size_limit(line: bytes) -> None:
    stream = EventStream(max_bytes=64)
    with pytest.raises(EventTooLarge):
        for _ in range(20):
            stream.feed(line)
