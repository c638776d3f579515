"""Tests Chat answers in the shapes that gateways and small servers give them, and which ends are clean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from session.wire.protocol.chat import ChatDecoder
from session.wire.protocol.events import Finished, Garbled, ReasoningDelta, ServerError, TextDelta
from session.wire.protocol.items import text_of
from session.wire.protocol.messages import MessagesDecoder
from session.wire.protocol.responses import ResponseDecoder

Call = tuple[str, str]


def delta(finish: object = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def read(
    *bodies: dict[str, Any] | str, decoder: Any = None, end: bool = True
) -> tuple[str, str, list[Call], Finished | None, int]:
    """What was answered, what was thought, the calls as name and arguments, the end, and frames not read."""
    decoder = decoder or ChatDecoder()
    events = [e for body in bodies for e in decoder.feed(body if isinstance(body, str) else json.dumps(body))]
    events += decoder.end() if end else []
    last = next((event for event in events if isinstance(event, Finished)), None)
    output = () if last is None else last.output
    calls = [(item["name"], item["arguments"]) for item in output if item["type"] == "function_call"]
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    if last is not None:
        assert said == "".join(text_of(item) for item in output if item["type"] == "message")
    thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    return said, thought, calls, last, sum(isinstance(event, Garbled) for event in events)


TEXTS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "parts in deltas": (
        [
            delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
            delta(content=[{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}, "c"]),
            delta(content=[]),
            delta("stop", content=None),
        ],
        "abc",
        "hm",
    ),
    "one part without a list, and text with a value": (
        [delta(content={"type": "text", "text": {"value": "a"}}), delta("stop", content={"text": "b"})],
        "ab",
        "",
    ),
    "reasoning in parts of other kinds": (
        [
            delta(content=[{"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}]}]),
            delta(reasoning=[{"text": "t"}]),
            delta("stop", content=[{"type": "refusal", "refusal": "no"}]),
        ],
        "no",
        "st",
    ),
    "a whole message": (
        [{"choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]}],
        "a",
        "",
    ),
    "a whole message in parts": (
        [{"choices": [{"message": {"content": [{"type": "text", "text": "a"}]}, "finish_reason": "stop"}]}],
        "a",
        "",
    ),
    "a whole message that repeats the deltas": (
        [
            delta(content="a"),
            {"choices": [{"delta": {}, "message": {"content": "a"}, "finish_reason": "stop"}]},
        ],
        "a",
        "",
    ),
    "a choice without an index, and none at all": (
        [
            {"choices": [{"index": None, "delta": {"content": "a"}}]},
            {"choices": None},
            {"object": "chat.completion.chunk"},
            {"choices": [{"delta": None, "text": "b", "finish_reason": "stop"}]},
            {"choices": [], "usage": None},
        ],
        "ab",
        "",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_in_any_shape_is_the_answer(case: str) -> None:
    bodies, said, thought = TEXTS[case]
    got = read(*bodies)
    assert got[:2] == (said, thought) and got[3] is not None and got[3].status == "completed"


def test_what_cannot_be_read_in_a_message_is_counted() -> None:
    said, _, _, _, unread = read(
        delta(content=[{"type": "image", "url": "x"}, {"type": "text", "text": "a"}])
    )
    assert (said, unread) == ("a", 1)
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    assert read(delta(content=deep), delta(reasoning=deep), delta(content={"text": deep}))[0] == ""


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "boom", "type": "BadRequestError", "code": 400},
        {"message": "boom"},
        {"type": "error", "message": "boom", "id": "x"},
    ],
)
def test_an_error_without_that_field_is_one(body: dict[str, Any]) -> None:
    decoder = ChatDecoder()
    (error,) = decoder.feed(json.dumps(body))
    assert isinstance(error, ServerError) and error.message == "boom" and decoder.finished


def piece(*calls: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(calls))


def part(arguments: object = "", *, name: str = "", **more: Any) -> dict[str, Any]:
    return {**more, "function": {"arguments": arguments, **({"name": name} if name else {})}}


ONE, TWO = ("read", '{"p": 1}'), ("read", '{"p": 2}')
CALLS: dict[str, tuple[list[dict[str, Any]], list[Call]]] = {
    "by index, the pieces of two mixed": (
        [
            piece(part(name="read", index=0, id="a"), part(name="read", index=1, id="b")),
            piece(part('{"p"', index=1)),
            piece(part('{"p": 1}', index=0)),
            piece(part(": 2}", index=1)),
        ],
        [ONE, TWO],
    ),
    "by id, the pieces of two mixed": (
        [
            piece(part(name="read", id="a")),
            piece(part(name="read", id="b")),
            piece(part('{"p"', id="a")),
            piece(part('{"p"', id="b")),
            piece(part(": 1}", id="a")),
            piece(part(": 2}", id="b")),
        ],
        [ONE, TWO],
    ),
    "by id, with the index 0 for both": (
        [
            piece(part(name="read", id="a", index=0)),
            piece(part(name="read", id="b", index=0)),
            piece(part('{"p": 1}', id="a", index=0)),
            piece(part('{"p": 2}', id="b", index=0)),
        ],
        [ONE, TWO],
    ),
    "by id, with the name in each piece": (
        [
            piece(part('{"p"', name="read", id="a")),
            piece(part('{"p"', name="read", id="b")),
            piece(part(": 1}", name="read", id="a")),
            piece(part(": 2}", name="read", id="b")),
        ],
        [ONE, TWO],
    ),
    "by position": (
        [
            piece(part('{"p"', name="read"), part('{"p"', name="read")),
            piece(part(": 1}"), part(": 2}")),
        ],
        [ONE, TWO],
    ),
    "one after the other, with the name in each piece": (
        [
            piece(part('{"p"', name="read")),
            piece(part(": 1}", name="read")),
            piece(part('{"p"', name="read")),
            piece(part(": 2}", name="read")),
            piece(part(" ", name="read")),
        ],
        [ONE, ("read", '{"p": 2} ')],
    ),
    "one after the other, with the name at the beginning": (
        [piece(part('{"p"', name="read")), piece(part(": 1}")), piece(part('{"p": 2}', name="read"))],
        [ONE, TWO],
    ),
    "an id that comes late, and an index that is null": (
        [piece(part('{"p"', name="read", index=None)), piece(part(": 1}", id="a", index=None))],
        [ONE],
    ),
    "objects as arguments": (
        [piece(part({"p": 1}, name="read", index=0)), piece(part({"p": 2}, name="read", index=1, id="b"))],
        [ONE, TWO],
    ),
    "one id for all, told apart by index": (
        [
            piece(part('{"p": 1}', name="read", index=0, id="x")),
            piece(part('{"p": 2}', name="read", index=1, id="x")),
        ],
        [ONE, TWO],
    ),
    "the form before tool_calls": (
        [
            delta(function_call={"name": "read", "arguments": '{"p"'}),
            delta(function_call={"name": "read", "arguments": ": 1}"}),
        ],
        [ONE],
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls_are_told_apart(case: str) -> None:
    bodies, calls = CALLS[case]
    _, _, got, last, _ = read(*bodies, delta("tool_calls"))
    assert got == calls
    assert last is not None and len({item["call_id"] for item in last.output}) == (
        1 if "one id" in case else len(calls)
    )


CLEAN = [
    "stop",
    "eos",
    "eos_token",
    "end_turn",
    "stop_sequence",
    "tool_calls",
    "function_call",
    "STOP",
    "COMPLETE",
]
CUT = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "MAX_TOKENS": "max_output_tokens",
    "content_filter": "content_filter",
    "abort": "abort",
    "network_error": "network_error",
    "sensitive": "sensitive",
    "insufficient_system_resource": "insufficient_system_resource",
    "something new": "something new",
}


@pytest.mark.parametrize("reason", CLEAN)
def test_a_clean_end(reason: str) -> None:
    last = read(delta(content="a"), delta(reason), "[DONE]")[3]
    assert last is not None and (last.status, last.reason) == ("completed", None)


@pytest.mark.parametrize("reason", CUT)
def test_any_other_end_is_a_cut(reason: str) -> None:
    call = piece(part("{}", name="read", index=0, id="a"))
    last = read(delta(content="a"), call, delta(reason), "[DONE]")[3]
    assert last is not None and (last.status, last.reason) == ("incomplete", CUT[reason])
    assert [item["type"] for item in last.output] == ["message"], "a call that may be cut is not made"


def test_an_end_without_a_reason_is_a_cut_unless_its_calls_are_whole() -> None:
    last = read(delta(content="a"), delta(None), "[DONE]")[3]
    assert last is not None and (last.status, last.reason) == (
        "incomplete",
        "the server gave no finish_reason",
    )
    for arguments, status in (("{}", "completed"), ('{"p"', "incomplete"), ("", "incomplete")):
        last = read(delta(content="a"), piece(part(arguments, name="read")), "[DONE]")[3]
        assert last is not None and last.status == status, arguments
    assert read(delta(content="a"))[3] is None, "the stream just ends"


# -- The other dialects ------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "tool_use", "stop"])
def test_a_clean_end_of_messages(reason: str) -> None:
    ended = {"type": "message_delta", "delta": {"stop_reason": reason}}
    last = read(ended, {"type": "message_stop"}, decoder=MessagesDecoder())[3]
    assert last is not None and (last.status, last.reason) == ("completed", None)


@pytest.mark.parametrize(("reason", "said"), [(None, "no stop_reason"), ("abort", "abort"), ("x", "x")])
def test_any_other_end_of_messages_is_a_cut(reason: str | None, said: str) -> None:
    ended = {"type": "message_delta", "delta": {"stop_reason": reason}}
    last = read(ended, {"type": "message_stop"}, decoder=MessagesDecoder())[3]
    assert last is not None and last.status == "incomplete" and said in (last.reason or "")


WHOLE_MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "1", "name": "read", "input": {"p": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


def test_a_whole_message_in_one_body() -> None:
    said, thought, calls, last, _ = read(WHOLE_MESSAGE, decoder=MessagesDecoder())
    assert (said, thought, calls) == ("a", "hm", [ONE])
    assert last is not None and last.status == "completed" and last.usage is not None
    assert last.output[0]["thinking"] == [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    cut = read({**WHOLE_MESSAGE, "stop_reason": "max_tokens"}, decoder=MessagesDecoder())
    assert cut[0] == "a" and cut[3] is not None and cut[3].status == "incomplete"


WHOLE_RESPONSE = {
    "id": "r",
    "object": "response",
    "status": "completed",
    "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "call_id": "1", "name": "read", "arguments": '{"p": 1}'},
    ],
}


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ("completed", "completed"),
        ("incomplete", "incomplete"),
        ("cancelled", "incomplete"),
        ("in_progress", "incomplete"),
    ],
)
def test_a_whole_response_in_one_body(status: str, ended: str) -> None:
    said, _, calls, last, _ = read({**WHOLE_RESPONSE, "status": status}, decoder=ResponseDecoder())
    assert (said, calls) == ("a", [ONE])
    assert last is not None and last.status == ended


@pytest.mark.parametrize("kind", ["response.completed", "response.done"])
@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ("completed", "completed"),
        (None, "completed"),
        ("incomplete", "incomplete"),
        ("cancelled", "incomplete"),
    ],
)
def test_a_response_ends_as_its_status_says(kind: str, status: str | None, ended: str) -> None:
    last = read({"type": kind, "response": {**WHOLE_RESPONSE, "status": status}}, decoder=ResponseDecoder())[
        3
    ]
    assert last is not None and last.status == ended
