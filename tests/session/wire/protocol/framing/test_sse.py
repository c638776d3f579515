"""Tests server-sent events split at any byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.wire.protocol.frames import AnswerBody, EventStream, EventTooLarge, is_answer
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


LINES: dict[str, tuple[bytes, list[bytes]]] = {
    "no empty line between": (
        b'data: {"a": 1}\ndata: {"b": {}} \ndata: [DONE]\n',
        [b'{"a": 1}', b'{"b": {}} ', b"[DONE]"],
    ),
    "no empty line after the last": (b'data: {"a": 1}\n\ndata: {"b": 2}\n', [b'{"a": 1}', b'{"b": 2}']),
    "no line end after the last": (b'data: {"a": 1}\n\ndata: [DONE]', [b'{"a": 1}', b"[DONE]"]),
    "the last is cut": (b'data: {"a": 1}\n\ndata: {"b": ', [b'{"a": 1}']),
    "one value on several lines": (
        b'data: {"a": {\ndata: "b": 1}\ndata: , "c": [\ndata: {}]}\n\n',
        [b'{"a": {\n"b": 1}\n, "c": [\n{}]}'],
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_an_event_of_json_needs_no_empty_line(case: str) -> None:
    given_, events = LINES[case]
    for size in (1, 7, len(given_)):
        stream = EventStream()
        got = [data for at in range(0, len(given_), size) for data in stream.feed(given_[at : at + size])]
        assert got + stream.end() == events


BODIES: dict[str, tuple[bytes, list[bytes], bytes | None]] = {
    "an event stream": (b'\n: hello\ndata: {"a": 1}\n\n', [b'{"a": 1}'], None),
    "an event stream with a mark": (b'\xef\xbb\xbfdata: {"a": 1}\n\n', [b'{"a": 1}'], None),
    "one body": (b' \r\n{"a":\n 1}', [], b'{"a":\n 1}'),
    "one body with a mark": (b'\xef\xbb\xbf {"a": 1}', [], b'{"a": 1}'),
    "a list": (b'[{"error": {}}]', [], b'[{"error": {}}]'),
    "nothing": (b"", [], None),
    "blanks": (b" \n", [], None),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_is_read_as_what_it_is(case: str) -> None:
    given_, events, whole = BODIES[case]
    for size in (1, 5, 1000):
        body = AnswerBody()
        got = [data for at in range(0, len(given_), size) for data in body.feed(given_[at : at + size])]
        assert (got + body.end(), body.whole) == (events, whole)


@pytest.mark.parametrize("begin", [b"{", b"", b"data: "])
def test_a_body_without_an_end_hits_the_size_limit(begin: bytes) -> None:
    body = AnswerBody(max_bytes=64)
    with pytest.raises(EventTooLarge):
        for _ in range(20):
            body.feed(begin or b"[")
            body.feed(b"x" * 40)


@pytest.mark.parametrize(
    ("body", "answers"),
    [
        ({"choices": []}, True),
        ({"object": "response", "output": []}, True),
        ({"type": "message", "content": []}, True),
        ({"choices": [], "error": None}, True),
        ({"choices": None, "error": {"message": "no"}}, False),
        ({"choices": [{}], "error": {"code": 502}}, False),
        ({"message": "no"}, False),
        ({}, False),
    ],
)
def test_which_body_is_an_answer(body: dict[str, object], answers: bool) -> None:
    assert is_answer(body) is answers
