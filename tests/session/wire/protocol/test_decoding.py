"""What comes in by the Responses dialect, errors and counts: each row is a frame and the events of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from session.wire.protocol.errors import header_wait, is_context_overflow, read_error
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
)
from session.wire.protocol.output import MOST
from session.wire.protocol.parts import count
from session.wire.protocol.responses import ResponseDecoder
from tests.session.wire.protocol.answers import Rows, message, play, thought, whole

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
