"""What comes in, dialect by dialect: each row is a frame of an answer and the events of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from session.wire.protocol.chat import ChatDecoder
from session.wire.protocol.dialects import Decoder
from session.wire.protocol.errors import header_wait, is_context_overflow, read_error
from session.wire.protocol.events import (
    Created,
    FinalStatus,
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
from session.wire.protocol.fim import FimDecoder
from session.wire.protocol.messages import MessagesDecoder
from session.wire.protocol.output import MOST
from session.wire.protocol.parts import count
from session.wire.protocol.responses import ResponseDecoder

Rows = list[tuple[dict[str, Any] | str, list[WireEvent]]]


def play(decoder: Decoder, rows: Rows) -> None:
    for number, (frame, events) in enumerate(rows, 1):
        text = frame if isinstance(frame, str) else json.dumps(frame)
        assert decoder.feed(text) == events, f"row {number}"


def message(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **more}


def call(call_id: str, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def thought(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], **more}


def whole(
    *items: dict[str, Any],
    usage: TokenUsage | None = None,
    identity: str = "",
    status: FinalStatus = "completed",
    reason: str | None = None,
) -> Finished:
    return Finished(status, identity, items, usage, reason)


# Chat Completions.


def chunk(delta: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, **more}]}


USED = {
    "prompt_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "completion_tokens": 5,
    "completion_tokens_details": {"reasoning_tokens": 3},
}
CHAT: dict[str, Rows] = {
    "words, thoughts and usage": [
        ({"id": "c1", **chunk({"role": "assistant"})}, [Created("c1")]),
        ({"id": "c2", **chunk({"reasoning": "hm"})}, [ReasoningDelta("hm")]),
        (chunk({"content": "a", "reasoning_content": "m"}), [ReasoningDelta("m"), TextDelta("a")]),
        (chunk({"content": "b", "refusal": "c"}), [TextDelta("b"), TextDelta("c")]),
        (chunk(finish_reason="stop"), []),
        ({"choices": [], "usage": USED}, []),
        ({"choices": [], "usage": {"prompt_tokens": 0}}, []),
        (
            " [DONE] ",
            [
                ItemDone(thought("hmm", origin="o"), "reasoning-0"),
                ItemDone(message("abc"), "message-1"),
                whole(
                    thought("hmm", origin="o"),
                    message("abc"),
                    usage=TokenUsage(9, 4, 5, 3, 2),
                    identity="c1",
                ),
            ],
        ),
        (chunk({"content": "late"}), []),
    ],
    "other choices and odd values are nothing": [
        ({"choices": [{"index": 1, "delta": {"content": "x"}}]}, []),
        ({"choices": ["x", {"delta": {"content": "a"}}]}, [TextDelta("a")]),
        ({"choices": "x", "id": 3, "usage": "x"}, []),
        (chunk({"content": 3, "tool_calls": ["x", 3], "reasoning": ""}), []),
        ({"choices": [{"message": {"content": "b"}}]}, [TextDelta("b")]),
        ("noise", [Garbled("not JSON: Expecting value: line 1 column 1 (char 0)")]),
        (chunk(finish_reason=""), []),
    ],
    "calls by index": [
        (
            chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"name": "a", "arguments": "{"}}]}),
            [ToolInputDelta("function_call-0", "1", "a", "{")],
        ),
        (
            chunk(
                {
                    "tool_calls": [
                        {"index": 0, "function": {"arguments": "}"}},
                        {"index": 1, "id": "2", "function": {"name": "b", "arguments": {"x": 1}}},
                    ]
                }
            ),
            [
                ToolInputDelta("function_call-0", "1", "a", "}"),
                ToolInputDelta("function_call-1", "2", "b", '{"x": 1}'),
            ],
        ),
        (
            "[DONE]",
            [
                ItemDone(call("1", "a"), "function_call-0"),
                ItemDone(call("2", "b", '{"x": 1}'), "function_call-1"),
                whole(call("1", "a"), call("2", "b", '{"x": 1}')),
            ],
        ),
    ],
    "a cut answer keeps no call": [
        (chunk({"content": "a"}), [TextDelta("a")]),
        (
            chunk({"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{"}}]}),
            [ToolInputDelta("function_call-1", "1", "a", "{")],
        ),
        (chunk(finish_reason="length"), []),
        (
            "[DONE]",
            [
                ItemDone(message("a"), "message-0"),
                whole(message("a"), status="incomplete", reason="max_output_tokens"),
            ],
        ),
    ],
    "a filtered answer": [
        (chunk(finish_reason="content_filter"), []),
        ("[DONE]", [whole(status="incomplete", reason="content_filter")]),
    ],
    "an error in a chunk": [
        ({"error": {"message": "no", "code": "x"}}, [ServerError("x", "no", None, None)]),
        ("[DONE]", []),
    ],
    "an error in a choice": [
        (
            chunk({"content": "a"}, error={"message": "no", "code": 502}),
            [TextDelta("a"), ServerError("502", "no", 502, None)],
        ),
    ],
    "an error as the reason of the end": [
        (chunk(finish_reason="error"), []),
        ("[DONE]", [ServerError("", "the server ended its answer with an error", None, None)]),
    ],
}


@pytest.mark.parametrize("case", CHAT)
def test_chat(case: str) -> None:
    play(ChatDecoder("o"), CHAT[case])


def test_a_chat_answer_ends_with_its_stream_where_it_has_an_end() -> None:
    decoder = ChatDecoder()
    play(decoder, [(chunk({"content": "a"}), [TextDelta("a")])])
    assert decoder.end() == [] and not decoder.finished
    play(decoder, [(chunk(finish_reason="stop"), [])])
    assert decoder.end() == [ItemDone(message("a"), "message-0"), whole(message("a"))]
    assert decoder.end() == [] and decoder.finished


def test_a_chat_server_that_wants_its_reasoning_back_gets_it() -> None:
    decoder = ChatDecoder(keeps_reasoning=True)
    decoder.feed(json.dumps(chunk({"reasoning": "hm"})))
    done = decoder.feed("[DONE]")[0]
    assert done == ItemDone(thought("hm", reasoning_content="hm"), "reasoning-0")


# Messages.


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def closing(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


SIGNED = thought("hm", thinking=[{"type": "thinking", "thinking": "hm", "signature": "st"}])
REDACTED: dict[str, Any] = {
    "type": "reasoning",
    "summary": [],
    "thinking": [{"type": "redacted_thinking", "data": "x"}],
}
MESSAGES: dict[str, Rows] = {
    "thoughts, words and a call": [
        (
            {
                "type": "message_start",
                "message": {
                    "id": "m1",
                    "usage": {
                        "input_tokens": 5,
                        "cache_read_input_tokens": 3,
                        "cache_creation_input_tokens": 2,
                    },
                },
            },
            [Created("m1")],
        ),
        ({"type": "message_start", "message": {"id": "m2"}}, []),
        (start(0, type="thinking", thinking=""), []),
        (delta(0, type="thinking_delta", thinking="hm"), [ReasoningDelta("hm")]),
        (delta(0, type="signature_delta", signature="s"), []),
        (delta(0, type="signature_delta", signature="t"), []),
        (delta(0, type="signature_delta", signature=3), []),
        (stop(0), [ItemDone(SIGNED, "reasoning-0")]),
        (stop(0), []),
        (start(1, type="redacted_thinking", data="x"), []),
        (stop(1), [ItemDone(REDACTED, "reasoning-1")]),
        (start(2, type="text", text="a"), [TextDelta("a")]),
        (delta(2, type="text_delta", text="b"), [TextDelta("b")]),
        (stop(2), [ItemDone(message("ab"), "message-2")]),
        (start(3, type="tool_use", id="1", name="look", input={}), []),
        (
            delta(3, type="input_json_delta", partial_json='{"p":1}'),
            [ToolInputDelta("function_call-3", "1", "look", '{"p":1}')],
        ),
        (
            start(4, type="tool_use", id="2", name="look", input={"q": 1}),
            [ToolInputDelta("function_call-4", "2", "look", '{"q": 1}')],
        ),
        (closing(output_tokens=7, output_tokens_details={"thinking_tokens": 4}), []),
        ({"type": "ping"}, []),
        (
            {"type": "message_stop"},
            [
                ItemDone(call("1", "look", '{"p":1}'), "function_call-3"),
                ItemDone(call("2", "look", '{"q": 1}'), "function_call-4"),
                whole(
                    SIGNED,
                    REDACTED,
                    message("ab"),
                    call("1", "look", '{"p":1}'),
                    call("2", "look", '{"q": 1}'),
                    usage=TokenUsage(10, 3, 7, 4, 2),
                    identity="m1",
                ),
            ],
        ),
        (delta(2, type="text_delta", text="late"), []),
    ],
    "odd values are nothing": [
        ({"type": "message_start"}, []),
        ({"type": "message_start", "message": {"id": ""}}, []),
        ({"type": "message_start", "message": {"id": 3}}, []),
        (start(0, type="redacted_thinking", data=3), []),
        ({"type": "content_block_start", "content_block": "x"}, []),
        ({"type": "content_block_delta", "delta": "x"}, []),
        (delta(0, type="text_delta", text=3), []),
        (delta(0, type="text_delta", text=""), []),
        (delta(0, type="thinking_delta", thinking=""), []),
        (delta(0, type="input_json_delta", partial_json=3), []),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}, [TextDelta("a")]),
        ({"type": "content_block_stop"}, [ItemDone(message("a"), "message-1")]),
        ({"type": "message_delta", "delta": "x"}, []),
        ({"a": 1}, [Garbled("an event without a type")]),
        ("[]", [Garbled("a JSON list where an object was expected")]),
    ],
    "later counts are totals and may be left out": [
        ({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}, []),
        (closing(output_tokens=3), []),
        (closing(None, input_tokens=0), []),
        ({"type": "message_stop"}, [whole(usage=TokenUsage(5, 0, 3, 0, 0))]),
    ],
    "no counts": [(closing("tool_use"), []), ({"type": "message_stop"}, [whole()])],
    "a cut": [
        (closing("max_tokens"), []),
        (closing(""), []),
        ({"type": "message_stop"}, [whole(status="incomplete", reason="max_output_tokens")]),
    ],
    "a refusal": [
        (closing("refusal"), []),
        ({"type": "message_stop"}, [whole(status="incomplete", reason="refusal")]),
    ],
    "an error": [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            [ServerError("overloaded_error", "busy", None, None)],
        ),
        ({"type": "message_stop"}, []),
    ],
    "an error without a type": [({"error": {"message": "no"}}, [ServerError("", "no", None, None)])],
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case: str) -> None:
    play(MessagesDecoder(), MESSAGES[case])


def test_a_messages_answer_ends_with_its_stream_where_it_said_why_it_stops() -> None:
    decoder = MessagesDecoder("o")
    play(decoder, [(delta(0, type="thinking_delta", thinking="a"), [ReasoningDelta("a")])])
    assert decoder.end() == [] and not decoder.finished
    play(decoder, [(closing(), [])])
    item = thought("a", origin="o")
    assert decoder.end() == [ItemDone(item, "reasoning-0"), whole(item)]
    assert decoder.end() == [] and decoder.finished


# Filling the middle.

FIM: dict[str, Rows] = {
    "completions": [
        ({"choices": [{"text": "a"}]}, [TextDelta("a")]),
        ({"choices": [{"text": 3}]}, []),
        ({"choices": ["x"]}, []),
        ({"content": "b"}, [TextDelta("b")]),
        (
            {
                "usage": {
                    "prompt_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 4},
                    "completion_tokens": 2,
                }
            },
            [],
        ),
        (
            "[DONE]",
            [ItemDone(message("ab"), "message-0"), whole(message("ab"), usage=TokenUsage(9, 4, 2, 0))],
        ),
        ({"content": "late"}, []),
    ],
    "infill": [
        ({"content": "a", "stop": False}, [TextDelta("a")]),
        (
            {"content": "b", "stop": True, "tokens_evaluated": 9, "tokens_cached": 20, "tokens_predicted": 2},
            [
                TextDelta("b"),
                ItemDone(message("ab"), "message-0"),
                whole(message("ab"), usage=TokenUsage(9, 9, 2, 0)),
            ],
        ),
    ],
    "infill without counts": [({"content": "", "stop": True}, [whole()])],
    "an error": [({"error": {"message": "no"}}, [ServerError("", "no", None, None)]), ("[DONE]", [])],
}


@pytest.mark.parametrize("case", FIM)
def test_filling_the_middle(case: str) -> None:
    play(FimDecoder(), FIM[case])


def test_what_fills_the_middle_ends_with_its_stream_where_it_has_an_end() -> None:
    decoder = FimDecoder()
    play(decoder, [({"choices": [{"text": "a"}]}, [TextDelta("a")])])
    assert decoder.end() == []
    play(decoder, [({"choices": [{"text": "", "finish_reason": "stop"}]}, [])])
    play(decoder, [({"choices": [{"text": "b"}]}, [TextDelta("b")])])
    assert decoder.end() == [ItemDone(message("ab"), "message-0"), whole(message("ab"))]
    assert decoder.end() == [] and decoder.finished


# Responses.


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


RESPONSE_USED = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
}
RESPONSES: dict[str, Rows] = {
    "words": [
        (event("created", response={"id": "r1"}), [Created("r1")]),
        (event("in_progress", response={"id": "r2"}), []),
        (event("output_item.added", output_index=0, item={"type": "message", "id": "m1"}), []),
        (event("output_text.delta", item_id="m1", delta="a"), [TextDelta("a")]),
        (event("output_text.delta", item_id="m1", delta=""), []),
        (event("output_text.delta", item_id="m1", delta=3), []),
        (event("output_text.done", item_id="m1", text="ab"), [TextDelta("b")]),
        (
            event("output_item.done", item=message("abc", id="m1")),
            [TextDelta("c"), ItemDone(message("abc", id="m1"), "m1")],
        ),
        (event("output_text.delta", item_id="m1", delta="late"), []),
        (event("output_text.done", item_id="m1", text="abcd"), []),
        (
            event(
                "completed",
                response={"id": "r1", "output": [message("abc", id="m1")], "usage": RESPONSE_USED},
            ),
            [whole(message("abc", id="m1"), usage=TokenUsage(9, 4, 5, 3, 2), identity="r1")],
        ),
        (event("created", response={"id": "r9"}), []),
    ],
    "an answer known by its end alone": [
        (
            event(
                "done",
                response={
                    "id": "r1",
                    "output": [message("a", id="m1"), message("a", id="m1"), 3, message("b"), message("b")],
                },
            ),
            [
                Created("r1"),
                TextDelta("a"),
                ItemDone(message("a", id="m1"), "m1"),
                TextDelta("b"),
                ItemDone(message("b"), "item-1"),
                TextDelta("b"),
                ItemDone(message("b"), "item-2"),
                whole(message("a", id="m1"), message("b"), message("b"), identity="r1"),
            ],
        ),
    ],
    "an answer known by its deltas alone": [
        (event("output_text.delta", delta="a"), [TextDelta("a")]),
        (event("refusal.delta", delta="b"), [TextDelta("b")]),
        (event("refusal.done", refusal="abc"), [TextDelta("c")]),
        (event("completed"), [ItemDone(message("abc"), "item-0"), whole(message("abc"))]),
    ],
    "items by their index": [
        (event("output_text.delta", output_index=0, delta="a"), [TextDelta("a")]),
        (event("output_item.done", output_index=0, item=message("a")), [ItemDone(message("a"), "item-0")]),
        (event("output_text.delta", output_index=1, delta="b"), [TextDelta("b")]),
        (event("output_item.done", output_index=1, item=message("b")), [ItemDone(message("b"), "item-1")]),
        (event("output_item.done", output_index=1, item=message("c")), []),
    ],
    "tool input": [
        (
            event(
                "output_item.added",
                item={"type": "custom_tool_call", "id": "p1", "call_id": "1", "name": "patch"},
            ),
            [],
        ),
        (
            event("custom_tool_call_input.delta", item_id="p1", delta="a"),
            [ToolInputDelta("p1", "1", "patch", "a", True)],
        ),
        (
            event("custom_tool_call_input.done", item_id="p1", input="ab"),
            [ToolInputDelta("p1", "1", "patch", "b", True)],
        ),
        (event("custom_tool_call_input.done", item_id="p1", input=3), []),
        (
            event("function_call_arguments.delta", item_id="f1", delta="{"),
            [ToolInputDelta("f1", "", "", "{", False)],
        ),
        (
            event("function_call_arguments.done", item_id="f1", arguments="{}"),
            [ToolInputDelta("f1", "", "", "}", False)],
        ),
        (
            event("completed"),
            [
                ItemDone(
                    {"type": "custom_tool_call", "call_id": "1", "name": "patch", "input": "ab", "id": "p1"},
                    "p1",
                ),
                whole(
                    {"type": "custom_tool_call", "call_id": "1", "name": "patch", "input": "ab", "id": "p1"}
                ),
            ],
        ),
    ],
    "thoughts": [
        (
            event("reasoning_summary_text.delta", item_id="t1", summary_index=0, delta="a"),
            [ReasoningDelta("a")],
        ),
        (
            event("reasoning_summary_text.delta", item_id="t1", summary_index=1, delta="b"),
            [ReasoningDelta("\n\nb")],
        ),
        (event("reasoning_text.delta", item_id="t1", delta="c"), [ReasoningDelta("c")]),
        (
            event(
                "output_item.done",
                item=thought("x", id="t1", origin="y", thinking=[1], reasoning_content="z"),
            ),
            [ItemDone(thought("x", id="t1", origin="o"), "t1")],
        ),
        (
            event("output_item.done", item=thought("new")),
            [ReasoningDelta("new"), ItemDone(thought("new", origin="o"), "item-1")],
        ),
    ],
    "odd values are nothing": [
        ("noise", [Garbled("not JSON: Expecting value: line 1 column 1 (char 0)")]),
        ({"a": 1}, [Garbled("an event without a type")]),
        ({"type": 3}, [Garbled("an event without a type")]),
        (event("unknown"), []),
        (event("created", response={"id": ""}), []),
        (event("created", response=3), []),
        (event("output_item.added", item=3), []),
        (event("output_item.done", item=3), []),
    ],
    "a failed answer": [
        (event("created", response={"id": "r1"}), [Created("r1")]),
        (
            event("failed", response={"error": {"code": "x", "message": "no"}}),
            [ServerError("x", "no", None, None), whole(status="failed", identity="r1")],
        ),
    ],
    "a failed answer that says so at its end": [
        (
            event("done", response={"status": "failed", "incomplete_details": {"reason": "why"}}),
            [ServerError("", "why", None, None), whole(status="failed", reason="why")],
        ),
    ],
    "an answer that was cancelled": [
        (
            event("done", response={"status": "cancelled"}),
            [whole(status="incomplete", reason="cancelled")],
        ),
    ],
    "a cut answer keeps what is whole": [
        (event("output_text.delta", delta="a"), [TextDelta("a")]),
        (
            event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}),
            [whole(status="incomplete", reason="max_output_tokens")],
        ),
    ],
    "an error": [
        ({"type": "error", "code": "x", "message": "no"}, [ServerError("x", "no", None, None)]),
        (event("completed"), []),
    ],
    "an error without a type": [({"error": {"message": "no"}}, [ServerError("", "no", None, None)])],
}


@pytest.mark.parametrize("case", RESPONSES)
def test_responses(case: str) -> None:
    decoder = ResponseDecoder("o")
    play(decoder, RESPONSES[case])
    assert decoder.garbled == (3 if case.startswith("odd") else 0) and decoder.end() == []


@pytest.mark.parametrize("index", [True, "1", None])
def test_an_index_that_is_no_number_is_none(index: object) -> None:
    decoder = ResponseDecoder()
    play(
        decoder,
        [
            (event("output_text.delta", output_index=1, item_id="a", delta="a"), [TextDelta("a")]),
            (event("output_text.delta", output_index=index, item_id="b", delta="b"), [TextDelta("b")]),
        ],
    )
    *_, last = decoder.feed(json.dumps(event("completed")))
    assert isinstance(last, Finished) and len(last.output) == 2


def test_an_answer_of_too_many_parts_ends() -> None:
    decoder = ResponseDecoder()
    for number in range(MOST):
        decoder.feed(json.dumps(event("output_text.delta", item_id=f"m{number}", delta="a")))
    error = "the answer has more than 512 parts, so reading it stopped"
    play(decoder, [(event("output_text.delta", item_id="last", delta="a"),
                    [ServerError("", error, None, None)])])  # fmt: skip
    assert decoder.finished


# Errors and counts.


@pytest.mark.parametrize(
    ("value", "path", "number"),
    [
        ({"a": {"b": 7}}, ("a", "b"), 7),
        ({"a": 7}, ("a", "b"), 0),
        ({"a": 0}, ("a",), 0),
        ({"a": -1}, ("a",), 0),
        ({"a": True}, ("a",), 0),
        ({"a": 1.5}, ("a",), 0),
        ({"a": 10**9}, ("a",), 10**9),
        ({"a": 10**9 + 1}, ("a",), 0),
        (None, ("a",), 0),
    ],
)
def test_a_count_that_can_be_believed(value: object, path: tuple[str, ...], number: int) -> None:
    assert count(value, *path) == number


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"type": "error", "message": "no"}}, ServerError("", "no", None, None)),
        ({"error": {"type": "bad", "message": "no"}}, ServerError("bad", "no", None, None)),
        ({"error": {"type": "bad", "code": "x"}}, ServerError("x", "x", None, None)),
        ({}, ServerError("", "the server reported an error without a message", None, None)),
        ({"message": "x" * 2_001}, ServerError("", "x" * 2_000, None, None)),
        ({"error": "no"}, ServerError("", "no", None, None)),
        ({"errors": ["no", "never"]}, ServerError("", "no", None, None)),
        ({"errors": [{"msg": "no"}]}, ServerError("", "no", None, None)),
        ({"errors": []}, ServerError("", "the server reported an error without a message", None, None)),
        ({"title": "no", "status": 404}, ServerError("", "no", 404, None)),
        ({"status": 99, "message": "no"}, ServerError("", "no", None, None)),
        ({"status": 100, "message": "no"}, ServerError("", "no", 100, None)),
        ({"status": 599, "message": "no"}, ServerError("", "no", 599, None)),
        ({"status": 600, "message": "no"}, ServerError("", "no", None, None)),
        ({"error": {"message": "no", "code": "429"}}, ServerError("429", "no", 429, None)),
        ({"error": {"message": "None", "detail": "no"}}, ServerError("", "no", None, None)),
        ({"message": "out", "error": {"x": 1}}, ServerError("", "out", None, None)),
        ({"error": {"message": "no", "error": {"message": "in"}}}, ServerError("", "no", None, None)),
        ({"error": {"error": {"error": {"message": "in"}}}}, ServerError("", "in", None, None)),
        ({"error": {"message": "no", "param": "model"}}, ServerError("", "no", None, None, "model")),
        (
            {"detail": [{"loc": ["body", "a", 0], "msg": "wrong"}, {"loc": "x"}, 3]},
            ServerError("", "'a.0': wrong", None, None, "a.0"),
        ),
        (
            {"detail": [{"loc": ["body", each], "msg": "wrong"} for each in "abcdef"]},
            ServerError("", "; ".join(f"'{each}': wrong" for each in "abcde"), None, None, "a"),
        ),
        (
            {"error": {"message": "no", "metadata": {"raw": '{"error": {"message": "quota"}}'}}},
            ServerError("", "no: quota", None, None),
        ),
        (
            {"error": {"metadata": {"raw": "quota"}, "code": 1}},
            ServerError("1", "quota", None, None),
        ),
        ({"message": "no", "retry_after": 3}, ServerError("", "no", None, 3.0)),
        ({"message": "no", "retry_after": True}, ServerError("", "no", None, None)),
        ({"error": {"message": "no", "resets_in_seconds": 4}}, ServerError("", "no", None, 4.0)),
        ({"message": "no", "headers": {"Retry-After": "5"}}, ServerError("", "no", None, 5.0)),
        (
            {"error": {"message": "try again in 9s", "headers": {"retry-after-ms": 600}}},
            ServerError("", "try again in 9s", None, 0.6),
        ),
        ({"message": "try again in 9s"}, ServerError("", "try again in 9s", None, 9.0)),
        ({"message": "no", "retry_after": 0}, ServerError("", "no", None, 0.0)),
    ],
)
def test_an_error(body: dict[str, Any], error: ServerError) -> None:
    assert read_error(body) == error


@pytest.mark.parametrize(
    ("code", "text", "overflow"),
    [
        ("context_length_exceeded", "", True),
        ("", "Your Prompt is too long", True),
        ("", "the request exceeds the available context size", True),
        ("rate_limit", "too many requests", False),
    ],
)
def test_a_request_that_is_too_long(code: str, text: str, overflow: bool) -> None:
    assert is_context_overflow(code, text) is overflow


def test_a_wait_is_never_below_nothing() -> None:
    assert header_wait({"retry-after": "0"}) == 0.0 and header_wait({"retry-after": "-0.5"}) is None
    moments = {"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:49:38 GMT"}
    assert header_wait(moments) == 0.0
    assert header_wait({"retry-after": moments["date"]}) is None, "nobody knows what time it is"
