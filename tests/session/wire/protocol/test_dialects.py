"""Tests the Chat Completions and Messages dialects without a socket: requests, answers, invalid bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.wire.protocol.chat import ChatDecoder, encode_chat
from session.wire.protocol.dialects import NAMES, dialect
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
from session.wire.protocol.frames import write_body
from session.wire.protocol.items import (
    FunctionTool,
    Item,
    OutputText,
    ThinkingBlock,
    tool_output,
    user_message,
)
from session.wire.protocol.messages import MAX_TOKENS, MessagesDecoder, encode_messages
from session.wire.protocol.request import Quirks, RequestProfile
from tests.session.wire.protocol.spoiled import spoiled_answers
from tests.thorough import share

FUNCTION: FunctionTool = {
    "type": "function",
    "name": "read",
    "description": "Read.",
    "parameters": {"type": "object"},
}
PROFILE = RequestProfile(
    "m", "Be brief.", ({"type": "custom", "name": "apply_patch"}, FUNCTION), effort="high"
)
ITEMS: list[Item] = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "context"}]},
    user_message("hello"),
    {"type": "reasoning", "summary": []},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"a"}'},
    {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "broken"},
    tool_output("c1", "one", custom=False),
    tool_output("c2", "two", custom=False),
    user_message("and now?"),
]


def decode(decoder: ChatDecoder | MessagesDecoder, *bodies: Any, end: bool = True) -> list[WireEvent]:
    events: list[WireEvent] = []
    for body in bodies:
        events += decoder.feed(body if isinstance(body, str | bytes) else json.dumps(body))
    return events + (decoder.end() if end else [])


def chunk(finish: str | None = None, usage: Any = None, **delta: Any) -> dict[str, Any]:
    body = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return {**body, "usage": usage} if usage else body


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


# -- Chat Completions --------------------------------------------------------------------------


def test_a_chat_request_has_alternating_turns_and_no_freeform_tools() -> None:
    body = encode_chat(PROFILE, ITEMS)
    assert [entry["role"] for entry in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert body["messages"][1]["content"] == "<developer>\ncontext\n</developer>\n\nhello"
    calls = body["messages"][2]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"path":"a"}', "broken"]
    assert body["messages"][-1]["content"] == "and now?"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read"]
    assert (body["reasoning_effort"], body["stream_options"]) == ("high", {"include_usage": True})
    assert "store" not in body and "instructions" not in body


def test_quirks_omit_and_rename_fields() -> None:
    quirks = Quirks(frozenset({"stream_options"}), {"max_completion_tokens": "max_tokens"})
    body = quirks.apply({"stream_options": {}, "max_completion_tokens": 5, "model": "m"})
    assert body == {"max_tokens": 5, "model": "m"}


@pytest.mark.parametrize("usage_apart", [True, False])
@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("thought", ["reasoning", "reasoning_content"])
def test_a_chat_answer_is_decoded(usage_apart: bool, done: bool, thought: str) -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}
    bodies: list[Any] = [
        chunk(role="assistant", content=""),
        chunk(**{thought: "Hm"}),
        chunk(content="Hel"),
        chunk(content="lo"),
        chunk("stop", None if usage_apart else counts),
    ]
    bodies += [{"id": "c", "choices": [], "usage": counts}] if usage_apart else []
    bodies += ["[DONE]"] if done else []
    thinking = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]}
    assert decode(ChatDecoder(), *bodies) == [
        Created("c"),
        ReasoningDelta("Hm"),
        TextDelta("Hel"),
        TextDelta("lo"),
        ItemDone(thinking, "reasoning-0"),
        ItemDone(message("Hello"), "message-1"),
        Finished("completed", "c", (thinking, message("Hello")), TokenUsage(9, 3, 5, 0), None),
    ]


def test_tool_calls_are_assembled_by_index() -> None:
    def call(index: int, **fields: Any) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, **fields}])

    events = decode(
        ChatDecoder(),
        call(0, id="a", function={"name": "read", "arguments": ""}),
        call(1, id="b", function={"name": "list", "arguments": '{"x":'}),
        call(0, function={"arguments": '{"p":1}'}),
        call(1, function={"arguments": "2}"}),
        chunk("tool_calls"),
    )
    assert [event for event in events if isinstance(event, ToolInputDelta)] == [
        ToolInputDelta("function_call-1", "b", "list", '{"x":'),
        ToolInputDelta("function_call-0", "a", "read", '{"p":1}'),
        ToolInputDelta("function_call-1", "b", "list", "2}"),
    ]
    last = events[-1]
    assert isinstance(last, Finished)
    assert [(item["call_id"], item["arguments"]) for item in last.output] == [
        ("a", '{"p":1}'),
        ("b", '{"x":2}'),
    ]


@pytest.mark.parametrize(("index", "ids"), [({}, ("a", "b")), ({"index": 0}, ("a", "b")), ({}, ("", ""))])
def test_calls_with_one_index_are_kept_apart(index: dict[str, int], ids: tuple[str, str]) -> None:
    events = decode(
        ChatDecoder(),
        *(
            chunk(tool_calls=[{**index, "id": name, "function": {"name": "read", "arguments": given}}])
            for name, given in zip(ids, ('{"p":1}', {"p": 2}), strict=True)
        ),
        chunk(tool_calls=[{**index, "id": "each piece has its own", "function": {"arguments": " "}}]),
        chunk("tool_calls"),
    )
    last = events[-1]
    assert isinstance(last, Finished)
    assert [item["arguments"] for item in last.output] == ['{"p":1}', '{"p": 2} ']
    called = [item["call_id"] for item in last.output]
    assert called == list(ids) if ids[0] else len(set(called)) == 2 and all(called)


def test_calls_without_ids_get_ids_that_are_unique_in_the_conversation() -> None:
    called = {"function": {"name": "read", "arguments": "{}"}}
    tool = {"type": "tool_use", "name": "read", "input": {}}
    started = {"type": "content_block_start", "index": 0, "content_block": tool}
    stopped = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    answers = [decode(ChatDecoder(), chunk(tool_calls=[called]), chunk("tool_calls")) for _ in range(2)]
    answers += [decode(MessagesDecoder(), started, stopped) for _ in range(2)]
    last = [events[-1] for events in answers]
    output = [item for event in last if isinstance(event, Finished) for item in event.output]
    assert len({item["call_id"] for item in output}) == len(output) == 4


def test_a_truncated_chat_answer_keeps_its_text_and_drops_incomplete_calls() -> None:
    half = chunk(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read", "arguments": '{"p'}}])
    events = decode(ChatDecoder(), chunk(content="Hel"), half, chunk("length"))
    assert events[-1] == Finished("incomplete", "c", (message("Hel"),), None, "max_output_tokens")
    assert decode(ChatDecoder(), chunk(content="Hel"))[-1] == TextDelta("Hel"), "an end nobody announced"


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        ({"error": {"message": "No", "code": 502}}, "502", 502),
        ({"error": {"message": "No", "type": "overloaded"}}, "overloaded", None),
        (
            {"choices": [{"index": 0, "error": {"message": "No", "code": "x"}, "finish_reason": "error"}]},
            "x",
            None,
        ),
    ],
)
def test_an_error_in_the_stream_is_reported(body: dict[str, Any], code: str, status: int | None) -> None:
    decoder = ChatDecoder()
    event = decode(decoder, chunk(content="Hel"), body)[-1]
    assert event == ServerError(code, "No", status, None)
    assert decode(decoder, chunk(content="more"), "[DONE]") == []


# -- Messages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat", "messages"])
@pytest.mark.parametrize("words", [None, "", " \n"], ids=["thinking alone", "no words", "blank words"])
def test_an_interrupted_answer_leaves_no_empty_message(name: str, words: str | None) -> None:
    block: ThinkingBlock = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    left: list[Item] = [{"type": "reasoning", "summary": [], "thinking": [block]}]
    if words is not None:
        said: OutputText = {"type": "output_text", "text": words}
        left.append({"type": "message", "role": "assistant", "content": [said]})
    items = [user_message("one"), *left, user_message("two")]
    messages = dialect(name).encode(RequestProfile("m"), items)["messages"]
    assert all(entry["content"] for entry in messages)
    assert [entry["role"] for entry in messages] == ["user"], "two of one role in a row are refused too"


def test_thinking_is_sent_with_the_text_and_calls_after_it() -> None:
    block: ThinkingBlock = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    cut: ThinkingBlock = {"type": "thinking", "thinking": "cut", "signature": "c"}
    items: list[Item] = [
        user_message("one"),
        {"type": "reasoning", "summary": [], "thinking": [block]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "reasoning", "summary": [], "thinking": [cut]},
        tool_output("c1", "done", custom=False),
    ]
    _, answer, _ = encode_messages(RequestProfile("m"), items)["messages"]
    assert [part["type"] for part in answer["content"]] == ["thinking", "tool_use"]
    assert answer["content"][0] == block


def test_a_messages_request_is_encoded() -> None:
    body = encode_messages(PROFILE, ITEMS)
    assert [entry["role"] for entry in body["messages"]] == ["user", "assistant", "user"]
    said, calls, results = (entry["content"] for entry in body["messages"])
    assert [block["text"] for block in said] == ["<developer>\ncontext\n</developer>", "hello"]
    assert [block.get("input") for block in calls] == [None, {"path": "a"}, {"input": "broken"}]
    assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"]
    assert results[-1]["cache_control"] == {"type": "ephemeral"}
    assert body["system"][0]["text"] == "Be brief."
    assert body["max_tokens"] == MAX_TOKENS + body["thinking"]["budget_tokens"]
    assert [tool["name"] for tool in body["tools"]] == ["read"]
    assert "thinking" not in encode_messages(RequestProfile("m", effort="low"), ITEMS)


def test_a_messages_answer_is_decoded() -> None:
    def at(kind: str, index: int, **fields: Any) -> dict[str, Any]:
        return {"type": f"content_block_{kind}", "index": index, **fields}

    started = {"id": "msg_1", "usage": {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 1}}
    tool = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    events = decode(
        MessagesDecoder(),
        {"type": "message_start", "message": started},
        {"type": "ping"},
        at("start", 0, content_block={"type": "thinking", "thinking": ""}),
        at("delta", 0, delta={"type": "thinking_delta", "thinking": "Hm"}),
        at("delta", 0, delta={"type": "signature_delta", "signature": "xyz"}),
        at("stop", 0),
        at("start", 1, content_block={"type": "text", "text": ""}),
        at("delta", 1, delta={"type": "text_delta", "text": "Hello"}),
        at("stop", 1),
        at("start", 2, content_block=tool),
        at("delta", 2, delta={"type": "input_json_delta", "partial_json": '{"p":1}'}),
        at("stop", 2),
        {"type": "unheard_of"},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )
    call = {"type": "function_call", "call_id": "t", "name": "read", "arguments": '{"p":1}'}
    assert [type(event) for event in events] == [
        Created,
        ReasoningDelta,
        ItemDone,
        TextDelta,
        ItemDone,
        ToolInputDelta,
        ItemDone,
        Finished,
    ]
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.output[1:] == (message("Hello"), call)
    assert (last.status, last.usage) == ("completed", TokenUsage(10, 6, 9, 0))


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": NaN}',
        '{"a": [1e999]}',
        '{"a": "\\ud800"}',
        '{"\\ud800": 1}',
        f'{{"a": {"[" * 900}{"]" * 900}}}',
        "[" * 100_000,
        "null",
    ],
)
def test_a_call_with_invalid_json_arguments_does_not_break_later_requests(arguments: str) -> None:
    call: Item = {"type": "function_call", "call_id": "c", "name": "read", "arguments": arguments}
    (turn,) = encode_messages(PROFILE, [call])["messages"]
    (use,) = turn["content"]
    assert isinstance(use["input"], dict) and write_body(turn)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [("max_tokens", "max_output_tokens"), ("refusal", "refusal"), ("pause_turn", "pause_turn")],
)
def test_a_truncated_messages_answer_is_incomplete(stop: str, reason: str) -> None:
    ending = {"type": "message_delta", "delta": {"stop_reason": stop}}
    (event,) = decode(MessagesDecoder(), ending)
    assert event == Finished("incomplete", "", (), None, reason)


def test_an_error_event_is_reported() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert decode(MessagesDecoder(), body) == [ServerError("overloaded_error", "Overloaded", None, None)]


# -- invalid input -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.fixed_dictionaries({}, optional={"index": JSON, "id": JSON, "function": JSON})
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("content", "text", "thinking", "partial_json", "reasoning", "stop_reason"), JSON),
        "type": st.sampled_from(["text_delta", "input_json_delta", "thinking_delta"]) | JSON,
        "tool_calls": st.lists(CALLS | JSON, max_size=2) | JSON,
    },
)
CHOICES = st.fixed_dictionaries(
    {}, optional={"index": st.just(0) | JSON, "delta": DELTAS | JSON, "finish_reason": JSON, "error": JSON}
)
KINDS = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*KINDS, "message_stop", "error"]) | JSON,
        "choices": st.lists(CHOICES | JSON, max_size=2) | JSON,
        **dict.fromkeys(("id", "usage", "error", "index", "message"), JSON),
        "delta": DELTAS | JSON,
        "content_block": st.fixed_dictionaries({"type": st.just("tool_use")}, optional={"input": JSON})
        | JSON,
    },
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=share(150, 8), deadline=None)
@given(bodies=st.lists(EVENTS | st.binary(max_size=40), max_size=6))
def test_wrong_types_and_any_bytes_never_raise(name: str, bodies: list[Any]) -> None:
    fed(name, bodies)


def fed(name: str, bodies: list[Any]) -> None:
    """Feed ``bodies``: nothing raises, what came can be written, and it ends at most twice."""
    decoder = dialect(name).decoder(PROFILE)
    events: list[WireEvent] = []
    for body in bodies:
        events += decoder.feed(body if isinstance(body, bytes) else json.dumps(body))
    events += decoder.end()
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta):
            event.text.encode("utf-8")
    ends = [event for event in events if isinstance(event, Finished | ServerError)]
    assert len(ends) <= 2


ASKED = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
COUNTS = {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}
STARTED = {"id": "msg_1", "usage": {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 1}}
USE = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
ARGUMENTS = {"type": "input_json_delta", "partial_json": "{}"}
ANSWERS: dict[str, list[Any]] = {
    "chat": [
        chunk(role="assistant", content=""),
        chunk(reasoning="Hm"),
        chunk(content="Hello"),
        chunk(tool_calls=[ASKED]),
        chunk("tool_calls", COUNTS),
        {"error": {"code": 500, "message": "It fell over."}},
    ],
    "messages": [
        {"type": "message_start", "message": STARTED},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": USE},
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_whichever_one_value_is_wrong_nothing_raises(name: str) -> None:
    decoder = dialect(name).decoder(PROFILE)
    events = [event for body in ANSWERS[name][:-1] for event in decoder.feed(json.dumps(body))]
    assert {type(event) for event in events} >= {ReasoningDelta, TextDelta, ToolInputDelta}
    for bodies in spoiled_answers(ANSWERS[name]):
        fed(name, bodies)


@pytest.mark.parametrize("decoder", [ChatDecoder(), MessagesDecoder()])
def test_frames_that_are_not_events_are_counted(decoder: ChatDecoder | MessagesDecoder) -> None:
    for frame in (b"", b"<html>", b"[1]", b"\xff\xfe", "[" * 100_000):
        (event,) = decoder.feed(frame)
        assert isinstance(event, Garbled)
    assert not decoder.finished


@pytest.mark.parametrize("name", NAMES)
def test_every_dialect_writes_a_json_body(name: str) -> None:
    body = dialect(name).encode(PROFILE, ITEMS)
    assert json.loads(json.dumps(body))["stream"] is True


def test_a_zero_token_count_is_ignored() -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    ending = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}], "usage": usage}
    events = decode(ChatDecoder(), ending, end=True)
    assert isinstance(events[-1], Finished) and events[-1].usage is None
