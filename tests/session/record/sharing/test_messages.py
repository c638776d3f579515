"""The messages between a session's processes: any bytes, split anywhere, are a message or a MessageError."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.base.events import event_types
from session.record.sharing import messages
from session.record.sharing.messages import (
    AfterHunk,
    Answer,
    Hello,
    Interrupt,
    Lines,
    MessageError,
    Queue,
    Refused,
    Submit,
    TakeOver,
    Told,
    Unqueue,
    Welcome,
    decode,
    encode,
)
from tests.session.base.events.test_events import events_of
from tests.thorough import share

TEXT = st.text()
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(),
    "bool": st.booleans(),
    "str | None": st.none() | TEXT,
    "int | None": st.none() | st.integers(),
    "tuple[str, ...] | None": st.none() | st.lists(TEXT, max_size=3).map(tuple),
}


def messages_of(kind: Any) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{field.name: PLAIN[str(field.type)] for field in fields(kind)})


MESSAGES = st.one_of(
    *map(
        messages_of,
        (Hello, Submit, Queue, AfterHunk, Unqueue, Interrupt, Answer, TakeOver, Welcome, Refused),
    ),
    st.one_of(*map(events_of, event_types().values())).map(Told),
)


@settings(max_examples=share(200, 15))
@given(st.lists(MESSAGES, max_size=8), st.data())
def test_any_messages_survive_any_cuts(sent: list[Any], data: st.DataObject) -> None:
    stream = b"".join(map(encode, sent))
    lines, got = Lines(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        got += [decode(line) for line in lines.feed(stream[:cut])]
        stream = stream[cut:]
    assert got == sent


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_an_error(line: bytes) -> None:
    with contextlib.suppress(MessageError):
        decode(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["hello", "submit", "answer", "welcome", "told", "?"]) | JSON},
        optional=dict.fromkeys(("version", "pid", "text", "held", "land", "rest", "event", "turn"), JSON),
    )
)
def test_any_object_is_a_message_or_an_error(record: dict[str, Any]) -> None:
    with contextlib.suppress(MessageError):
        decode(json.dumps(record).encode())


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xff",
        b"[" * 100_000,
        b'{"kind": "submit", "text": 5}',
        b'{"kind": "submit"}',
        b'{"kind": "hello", "version": true, "pid": 1}',
        b'{"kind": ["submit"], "text": "x"}',
        b'{"kind": "told", "event": {"type": "turn.ended"}}',
        b'{"kind": "told"}',
    ],
)
def test_what_is_no_message_is_said_to_be_none(line: bytes) -> None:
    with pytest.raises(MessageError):
        decode(line)


def test_an_event_of_a_newer_version_is_passed_over() -> None:
    assert decode(b'{"kind": "told", "event": {"type": "from.the.future"}}') is None


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_line_that_is_too_long_is_refused_before_it_ends(size: int) -> None:
    lines, sent = Lines(64), 0
    with pytest.raises(MessageError, match="too long"):
        while sent < 1000:
            lines.feed(b"x" * size)
            sent += size
    assert sent <= 64 + size


def test_the_longest_line_passes() -> None:
    assert Lines(64).feed(b"x" * 64 + b"\n") == [b"x" * 64]
    with pytest.raises(MessageError):
        Lines(64).feed(b"x" * 65 + b"\n")


def test_a_prompt_of_a_megabyte_fits() -> None:
    prompt = Submit("ä" * 600_000)
    assert len(encode(prompt)) < messages.LONGEST_LINE
    assert decode(encode(prompt)) == prompt
