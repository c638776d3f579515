"""Instructions and tools as the first items of a conversation over WebSocket, sent once."""

from __future__ import annotations

import json

from session.wire.protocol.items import ToolDefinition, user_message
from session.wire.protocol.request import Quirks, RequestProfile
from session.wire.protocol.responses import encode_create, encode_response

TOOLS: tuple[ToolDefinition, ...] = ({"type": "function", "name": "read"},)
INSTRUCTIONS = {
    "type": "message",
    "role": "developer",
    "content": [{"type": "input_text", "text": "Be brief."}],
}
OFFER = {"type": "additional_tools", "role": "developer", "tools": list(TOOLS)}


def test_a_conversation_begins_with_its_tools_and_instructions() -> None:
    profile = RequestProfile("m", "Be brief.", TOOLS, tools_as_item=True, instructions_as_item=True)
    first = json.loads(encode_create(profile, [user_message("hello")]))
    assert first["input"] == [OFFER, INSTRUCTIONS, user_message("hello")]
    assert "tools" not in first and "instructions" not in first
    warm_up = json.loads(encode_create(profile, (), generate=False))
    assert (warm_up["input"], warm_up["generate"]) == ([OFFER, INSTRUCTIONS], False)


def test_a_request_that_continues_it_does_not_repeat_them() -> None:
    profile = RequestProfile("m", "Be brief.", TOOLS, tools_as_item=True, instructions_as_item=True)
    body = json.loads(encode_create(profile, [user_message("more")], previous_response_id="r1"))
    assert body == {
        "type": "response.create",
        "model": "m",
        "store": False,
        "input": [user_message("more")],
        "previous_response_id": "r1",
    }


def test_tools_stay_a_field_for_models_that_do_not_take_them_as_an_item() -> None:
    profile = RequestProfile("m", "Be brief.", TOOLS, instructions_as_item=True)
    body = json.loads(encode_create(profile, [user_message("more")], previous_response_id="r1"))
    assert (body["tools"], body["input"]) == (list(TOOLS), [user_message("more")])
    assert "instructions" not in body


def test_over_http_everything_stays_a_field() -> None:
    profile = RequestProfile("m", "Be brief.", TOOLS, tools_as_item=True, instructions_as_item=True)
    body = encode_response(profile, [user_message("hello")])
    assert (body["instructions"], body["tools"], body["input"]) == (
        "Be brief.",
        list(TOOLS),
        [user_message("hello")],
    )


def test_over_http_tools_that_may_be_no_field_are_an_item() -> None:
    profile = RequestProfile("m", "Be brief.", TOOLS, tools_as_item=True, tool_field=False)
    body = encode_response(profile, [user_message("hello")])
    assert body["input"] == [
        {"type": "additional_tools", "role": "developer", "tools": TOOLS}, user_message("hello")
    ]  # fmt: skip
    assert "tools" not in body and body["instructions"] == "Be brief."


def test_fields_of_the_responses_dialect_can_be_left_out_one_by_one() -> None:
    extra = {"stream_options": {"include_obfuscation": False}, "text": {"verbosity": "low"}}
    profile = RequestProfile("m", responses_extra=extra)
    assert json.loads(encode_create(profile, ()))["text"] == {"verbosity": "low"}
    quirks = Quirks().without(frozenset({"text.verbosity"}))
    body = json.loads(encode_create(profile, (), quirks=quirks))
    assert body["stream_options"] == {"include_obfuscation": False} and "text" not in body
