"""Tests the Responses decoder with events in the shapes that servers send, and with invalid frames."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.wire.protocol.events import (
    Created,
    Finished,
    Garbled,
    ItemDone,
    ReasoningDelta,
    ServerError,
    TextDelta,
    TokenUsage,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.items import user_message
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.responses import ResponseDecoder, encode_create
from tests.session.wire.protocol.spoiled import spoiled, spoiled_answers
from tests.thorough import share

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello"}],
}
CALL = {
    "id": "ctc_1",
    "type": "custom_tool_call",
    "call_id": "call_1",
    "name": "apply_patch",
    "input": "*** Begin",
}


def decode(*bodies: dict[str, Any]) -> list[WireEvent]:
    decoder = ResponseDecoder()
    return [event for body in bodies for event in decoder.feed(json.dumps(body))]


def final(output: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"id": "resp_1", "output": output or [], **fields}}


def text(events: list[WireEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_complete_answer_is_decoded() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = decode(
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.in_progress", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**MESSAGE, "content": []}},
        {"type": "response.content_part.added", **place, "part": {"type": "output_text", "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": "Hel"},
        {"type": "response.output_text.delta", **place, "delta": "lo"},
        {"type": "response.output_text.done", **place, "text": "Hello"},
        {"type": "response.content_part.done", **place, "part": {"type": "output_text", "text": "Hello"}},
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        final([MESSAGE], usage=usage),
    )
    assert events == [
        Created("resp_1"),
        TextDelta("Hel"),
        TextDelta("lo"),
        ItemDone(MESSAGE, "msg_1"),
        Finished("completed", "resp_1", (MESSAGE,), TokenUsage(10, 4, 6, 2), None),
    ]


@pytest.mark.parametrize(
    "bodies",
    [
        [final([MESSAGE])],
        [{"type": "response.output_item.done", "item": MESSAGE}, final()],
        [{"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hel"}, final([MESSAGE])],
        [
            {"type": "response.output_text.delta", "delta": "Hel"},
            {"type": "response.output_item.done", "item": MESSAGE},
            final([MESSAGE]),
        ],
        [
            {"type": "response.output_text.delta", "item_id": "other", "delta": "Hello"},
            {"type": "response.output_item.done", "item": MESSAGE},
            final([{**MESSAGE, "id": "third"}]),
        ],
        [
            {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "H"},
            {"type": "response.output_text.done", "item_id": "msg_1", "text": "Hello"},
            {"type": "response.output_item.done", "item": MESSAGE},
            {"type": "response.output_item.done", "item": MESSAGE},
            final([MESSAGE]),
        ],
    ],
    ids=["final-only", "item-only", "cut-deltas", "no-ids", "changing-ids", "text-done-and-repeats"],
)
def test_done_events_fill_in_missing_text_and_never_repeat_it(bodies: list[dict[str, Any]]) -> None:
    events = decode(*bodies)
    assert text(events) == "Hello"
    assert [event for event in events if isinstance(event, ItemDone)] != []
    last = events[-1]
    assert isinstance(last, Finished) and len(last.output) == 1


def test_deltas_alone_make_an_item() -> None:
    events = decode({"type": "response.output_text.delta", "delta": "Hi"}, final())
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.output[0]["content"] == [{"type": "output_text", "text": "Hi", "annotations": []}]


def test_a_truncated_tool_call_is_never_completed() -> None:
    added = {"type": "response.output_item.added", "item": {**CALL, "input": ""}}
    delta = {"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1", "delta": "*** Be"}
    cut = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    events = decode(added, delta, cut)
    assert events[-1] == Finished("incomplete", "", (), None, "max_output_tokens")
    assert not any(isinstance(event, ItemDone) for event in events)


def test_tool_input_has_its_call_and_keeps_its_item_id() -> None:
    delta = {"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1", "delta": "*** Be"}
    added = {"type": "response.output_item.added", "item": {**CALL, "input": ""}}
    done = {"type": "response.output_item.done", "item": CALL}
    assert decode(added, delta, done) == [
        ToolInputDelta("ctc_1", "call_1", "apply_patch", "*** Be", custom=True),
        ToolInputDelta("ctc_1", "call_1", "apply_patch", "gin", custom=True),
        ItemDone(CALL, "ctc_1"),
    ]
    late = decode({**delta, "item_id": "other"}, done)
    assert late[0] == ToolInputDelta("other", "", "", "*** Be", custom=True)
    assert late[-1] == ItemDone(CALL, "other")


def test_two_messages_without_an_index_stay_apart() -> None:
    second = {**MESSAGE, "id": "msg_2", "content": [{"type": "output_text", "text": "World"}]}
    events = decode(
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hello"},
        {"type": "response.output_text.delta", "item_id": "msg_2", "delta": "Wor"},
        {"type": "response.output_item.done", "item": MESSAGE},
        {"type": "response.output_item.done", "item": second},
        final([MESSAGE, second]),
    )
    assert text(events) == "HelloWorld"
    last = events[-1]
    assert isinstance(last, Finished) and last.output == (MESSAGE, second)


def test_an_empty_line_separates_reasoning_parts() -> None:
    kind = "response.reasoning_summary_text.delta"
    events = decode(
        {"type": kind, "item_id": "rs", "summary_index": 0, "delta": "One"},
        {"type": kind, "item_id": "rs", "summary_index": 1, "delta": "Two"},
    )
    assert events == [ReasoningDelta("One"), ReasoningDelta("\n\nTwo")]


INNER = {
    "type": "invalid_request_error",
    "code": "context_length_exceeded",
    "message": "Too long",
    "param": "input",
}


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "status": 400, "error": INNER},
        {**INNER, "type": "error", "status": 400},
        {"error": INNER, "status": 400},
    ],
    ids=["nested", "flat", "http"],
)
def test_every_error_shape_is_read(body: dict[str, Any]) -> None:
    assert decode(body) == [ServerError("context_length_exceeded", "Too long", 400, None, "input")]


def test_a_failed_response_gives_an_error_and_finishes() -> None:
    failed = {"id": "resp_1", "error": {"code": "server_error", "message": "Sorry"}, "output": []}
    events = decode({"type": "response.failed", "response": failed})
    assert events[-2:] == [
        ServerError("server_error", "Sorry", None, None),
        Finished("failed", "resp_1", (), None, None),
    ]


@pytest.mark.parametrize(
    "body", [{"type": "error"}, {"error": None}, {"type": "error", "error": [1]}, {"error": "x"}]
)
def test_an_error_without_a_message_is_reported(body: dict[str, Any]) -> None:
    (event,) = decode(body)
    assert isinstance(event, ServerError) and event.message


def test_a_wait_in_the_headers_takes_precedence() -> None:
    body = {"type": "error", "headers": {"Retry-After": "7"}, "error": {"message": "try again in 2s"}}
    assert decode(body) == [ServerError("", "try again in 2s", None, 7.0)]


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{",
        "[1]",
        '"text"',
        "null",
        "NaN",
        b"\xff\xfe\x00",
        b"\x00" * 9,
        "[" * 100_000,
        '{"type": 7}',
        "{}",
    ],
)
def test_garbage_is_counted_and_changes_nothing(frame: str | bytes) -> None:
    decoder = ResponseDecoder()
    (event,) = decoder.feed(frame)
    assert isinstance(event, Garbled)
    assert (decoder.garbled, decoder.finished) == (1, False)


def test_unknown_events_and_frames_after_the_end_are_ignored() -> None:
    assert decode({"type": "response.steer.accepted"}, {"type": "keepalive"}) == []
    late = decode(final(), final(), {"type": "response.output_text.delta", "delta": "late"})
    assert [type(event) for event in late] == [Created, Finished]


def test_decoded_text_can_always_be_encoded() -> None:
    frame = '{"type":"response.output_text.delta","delta":"a\\ud800b"}'
    (event,) = ResponseDecoder().feed(frame)
    assert event == TextDelta("a�b")
    damaged = b'{"type":"response.output_text.delta","delta":"a\xe2\x82b"}'
    (event,) = ResponseDecoder().feed(damaged)
    assert event == TextDelta("a�b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [
    "item",
    "delta",
    "item_id",
    "output_index",
    "response",
    "error",
    "text",
    "input",
    "status",
    "message",
    "code",
]
KINDS = [
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.reasoning_summary_text.delta",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.function_call_arguments.delta",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.done",
    "error",
]
ITEMS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "custom_tool_call", "function_call"]) | JSON},
    optional=dict.fromkeys(("id", "content", "summary", "input", "arguments", "call_id", "name"), JSON),
)
RESPONSES = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON,
        "output": st.lists(ITEMS | JSON, max_size=3) | JSON,
        "usage": JSON | st.fixed_dictionaries({"input_tokens": JSON, "output_tokens_details": JSON}),
        "error": JSON,
        "status": JSON,
        "incomplete_details": JSON,
    },
)
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS) | JSON},
    optional={**dict.fromkeys(FIELDS, JSON), "item": ITEMS | JSON, "response": RESPONSES | JSON},
)


def fed(bodies: Iterable[Any]) -> None:
    """Feed ``bodies``: nothing raises, and what came can be written."""
    decoder = ResponseDecoder()
    for body in bodies:
        for event in decoder.feed(json.dumps(body)):
            if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta):
                event.text.encode("utf-8")


@settings(max_examples=share(300, 10), deadline=None)
@given(st.lists(EVENTS, max_size=6))
def test_wrong_types_anywhere_never_raise(bodies: list[Any]) -> None:
    fed(bodies)


REASONING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}
FUNCTION = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
WHOLE: list[Any] = [
    {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
    {"type": "response.output_item.added", "output_index": 0, "item": REASONING},
    {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "delta": "Hm"},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
    {"type": "response.output_item.added", "output_index": 1, "item": {**MESSAGE, "content": []}},
    {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": "Hel"},
    {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "text": "Hello"},
    {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE},
    {"type": "response.output_item.added", "output_index": 2, "item": {**CALL, "input": ""}},
    {"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1", "output_index": 2, "delta": "*"},
    {"type": "response.custom_tool_call_input.done", "item_id": "ctc_1", "output_index": 2, "input": "*"},
    {"type": "response.output_item.done", "output_index": 2, "item": CALL},
    {"type": "response.output_item.added", "output_index": 3, "item": {**FUNCTION, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 3, "delta": "{}"},
    {"type": "response.output_item.done", "output_index": 3, "item": FUNCTION},
]
USAGE = {"input_tokens": 9, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}}
ERROR = {"code": "server_error", "message": "It fell over."}
ENDS: list[Any] = [
    final([REASONING, MESSAGE, CALL, FUNCTION], usage=USAGE, status="completed"),
    {
        "type": "response.incomplete",
        "response": {"id": "resp_1", "incomplete_details": {"reason": "max_output_tokens"}},
    },
    {"type": "response.failed", "response": {"id": "resp_1", "error": ERROR}},
    {"type": "error", "error": ERROR, "status": 500},
    {"type": "error", **ERROR},
]


def test_whichever_one_value_is_wrong_nothing_raises() -> None:
    assert {type(event) for event in decode(*WHOLE, ENDS[0])} >= {ReasoningDelta, TextDelta, ToolInputDelta}
    for bodies in spoiled_answers(WHOLE):
        fed([*bodies, ENDS[0]])
    for end in ENDS:
        for other in spoiled(end):
            fed([*WHOLE[:8], other])


@settings(max_examples=share(300, 40), deadline=None)
@given(st.lists(st.binary(max_size=64) | st.text(max_size=64), max_size=6))
def test_any_bytes_never_raise(frames: list[bytes | str]) -> None:
    decoder = ResponseDecoder()
    for frame in frames:
        decoder.feed(frame)


ANSWER = b"".join(
    json.dumps(body).encode() + b"\n"
    for body in (
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hel"},
        {"type": "response.output_item.done", "item": MESSAGE},
        final([MESSAGE]),
    )
)


@settings(max_examples=share(200, 40), deadline=None)
@given(st.lists(st.integers(0, len(ANSWER)), max_size=8), st.binary(max_size=4), st.integers(0, len(ANSWER)))
def test_an_answer_cut_and_damaged_anywhere_never_raises(cuts: list[int], noise: bytes, at: int) -> None:
    data = ANSWER[:at] + noise + ANSWER[at:]
    edges = sorted({0, len(data), *cuts})
    decoder = ResponseDecoder()
    events = [e for a, b in pairwise(edges) for e in decoder.feed(data[a:b])]
    assert all(e == TextDelta("Hel") or not isinstance(e, TextDelta) or e.text for e in events)


def test_a_request_holds_the_body_and_its_type() -> None:
    profile = RequestProfile("m", "Be brief.", ({"type": "custom", "name": "apply_patch"},), effort="low")
    body = json.loads(encode_create(profile, [user_message("hi")], previous_response_id="resp_1"))
    assert body == {
        "type": "response.create",
        "model": "m",
        "store": False,
        "instructions": "Be brief.",
        "tools": [{"type": "custom", "name": "apply_patch"}],
        "reasoning": {"effort": "low", "summary": "auto"},
        "input": [user_message("hi")],
        "previous_response_id": "resp_1",
    }
    assert json.loads(encode_create(profile, [], generate=False))["generate"] is False


def test_a_request_with_a_lone_surrogate_can_be_sent() -> None:
    encode_create(RequestProfile("m"), [user_message("a\ud800b")]).encode("utf-8")


def test_a_request_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode_create(RequestProfile("m", extra={"odd": object()}), [])


@pytest.mark.parametrize("number", [0, -1, True, 1.5, "7", None, 10**400, float("inf")])
def test_a_token_count_that_is_none_is_ignored(number: object) -> None:
    usage = {"input_tokens": number, "output_tokens": number, "input_tokens_details": number}
    final = decode({"type": "response.completed", "response": {"id": "r", "usage": usage}})[-1]
    assert isinstance(final, Finished) and final.usage is None
