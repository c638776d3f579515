"""What comes in by the dialects of turns and gaps: each row is a frame of an answer and the events of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from session.wire.protocol.chat import ChatDecoder
from session.wire.protocol.events import (
    Created,
    Garbled,
    ItemDone,
    PromptRead,
    ReasoningDelta,
    ServerError,
    TextDelta,
    TokenUsage,
    ToolInputDelta,
)
from session.wire.protocol.fim import FimDecoder
from session.wire.protocol.messages import MessagesDecoder
from tests.session.wire.protocol.answers import Rows, call, message, play, thought, whole

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
    "an engine that says how much of the prompt it has read": [
        ({**chunk({"content": None}), "prompt_progress": {"total": 9, "processed": 4}}, [PromptRead(4, 9)]),
        ({**chunk({"content": None}), "prompt_progress": {"total": 9, "processed": 12}}, [PromptRead(9, 9)]),
        ({**chunk({"content": "a"}), "prompt_progress": {"total": 0, "processed": "x"}}, [TextDelta("a")]),
        (chunk(finish_reason="stop"), []),
        ("[DONE]", [ItemDone(message("a"), "message-0"), whole(message("a"))]),
    ],
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
