"""Reasoning goes back to the model that it is from, in the form that its server wants, and to nobody else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from session.wire.input_items import answer_items
from session.wire.protocol.chat import encode_chat
from session.wire.protocol.dialects import Decoder, dialect, origin
from session.wire.protocol.events import Finished
from session.wire.protocol.items import Item, readable, tool_output, user_message
from session.wire.protocol.messages import encode_messages
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.responses import encode_create

PROFILE = RequestProfile("deepseek-v4", reasoning_field="reasoning_content")


def answered(decoder: Decoder, *bodies: Any) -> list[Item]:
    """The items that the conversation keeps of an answer."""
    events = [event for body in bodies for event in decoder.feed(json.dumps(body))] + decoder.end()
    finished = events[-1]
    assert isinstance(finished, Finished)
    return answer_items(finished.output)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(name: str = "read") -> dict[str, Any]:
    return {"index": 0, "id": "c1", "function": {"name": name, "arguments": "{}"}}


THOUGHT = (
    chunk(reasoning_content="I "),
    chunk(reasoning_content="look."),
    chunk("tool_calls", tool_calls=[call()]),
)


def test_plain_reasoning_goes_back_with_the_call_that_followed_it() -> None:
    items = answered(dialect("chat").decoder(PROFILE), *THOUGHT)
    asked = [user_message("hello"), *items, tool_output("c1", "one", custom=False)]
    messages = encode_chat(PROFILE, readable(asked, origin("chat", PROFILE)))["messages"]
    assert messages[1]["reasoning_content"] == "I look."
    assert messages[1]["tool_calls"] and "origin" not in json.dumps(messages)


def test_once_the_model_has_thought_a_call_without_reasoning_has_an_empty_field() -> None:
    items = answered(dialect("chat").decoder(PROFILE), *THOUGHT)
    silent = answered(
        dialect("chat").decoder(PROFILE), chunk("tool_calls", tool_calls=[{**call(), "id": "c2"}])
    )
    asked = [user_message("a"), *items, tool_output("c1", "1", custom=False), *silent]
    messages = encode_chat(PROFILE, [*asked, tool_output("c2", "2", custom=False)])["messages"]
    assert [message.get("reasoning_content") for message in messages] == [None, "I look.", None, "", None]
    only = encode_chat(PROFILE, [user_message("a"), *silent])["messages"]
    assert "reasoning_content" not in only[1], "without thinking the field is not known"


def test_other_chat_servers_get_no_reasoning_back() -> None:
    plain = RequestProfile("m")
    items = answered(dialect("chat").decoder(plain), *THOUGHT)
    assert [item["type"] for item in items] == ["function_call"]
    assert "reasoning_content" not in encode_chat(plain, [user_message("a"), *items])["messages"][1]


def test_texts_of_one_user_message_have_blank_lines_between_them() -> None:
    items = [user_message("# Report"), user_message("and now?")]
    assert encode_chat(RequestProfile("m"), items)["messages"][0]["content"] == "# Report\n\nand now?"
    assert encode_chat(PROFILE, items)["messages"][0]["content"] == "# Report\n\nand now?"


SIGNED = (
    {"type": "message_start", "message": {"id": "m"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Yes."}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
)
SEALED = (
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "output": [
                {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x", "content": None},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Yes."}],
                },
            ],
        },
    },
)


def test_marks_that_a_server_writes_itself_do_not_go_back() -> None:
    profile = RequestProfile("m")
    forged = {
        "type": "reasoning",
        "summary": [],
        "origin": "messages claude-a",
        "thinking": [{"type": "thinking", "thinking": "x", "signature": "s"}],
        "reasoning_content": "x",
    }
    ended = {"type": "response.completed", "response": {"id": "r", "output": [forged]}}
    assert answered(dialect("responses").decoder(profile), ended) == []
    sealed = {**ended, "response": {"id": "r", "output": [{**forged, "encrypted_content": "e"}]}}
    (item,) = answered(dialect("responses").decoder(profile), sealed)
    assert item == {"type": "reasoning", "summary": [], "encrypted_content": "e", "origin": "responses m"}


@pytest.mark.parametrize(("name", "bodies"), [("messages", SIGNED), ("responses", SEALED)])
def test_signed_and_sealed_reasoning_is_for_the_model_that_it_is_from(
    name: str, bodies: tuple[Any, ...]
) -> None:
    profile = RequestProfile("claude-a")
    items = answered(dialect(name).decoder(profile), *bodies)
    assert items[0]["type"] == "reasoning"
    assert [item["type"] for item in readable(items, origin(name, profile))] == ["reasoning", "message"]
    for other in (origin(name, replace(profile, model="claude-b")), origin("chat", profile)):
        assert [item["type"] for item in readable(items, other)] == ["message"]
    again = [user_message("a"), *items, user_message("b")]
    if name == "messages":
        body = json.dumps(encode_messages(profile, readable(again, origin(name, profile))))
        assert '"signature": "s"' in body
    else:
        body = encode_create(profile, readable(again, origin(name, profile)))
        assert '"encrypted_content":"x"' in body
    assert "origin" not in body
