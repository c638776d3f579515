"""Tests that a request is made once more without the item that the server names, and which those are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.wire.link.refused_parts import refused_items
from session.wire.link.state import LinkChange, LinkState
from session.wire.protocol.chat import encode_chat
from session.wire.protocol.events import ServerError
from session.wire.protocol.items import Item, tool_output, user_message
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.sendable import sendable
from session.wire.transport.errors import LinkError
from tests.session.wire.link.test_connection import ask, said, until
from tests.session.wire.transport.test_http import CHAT, over


def model(text: str) -> Item:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def call(call_id: str) -> Item:
    return {"type": "function_call", "call_id": call_id, "name": "read", "arguments": "{}"}


def result(call_id: str) -> Item:
    return tool_output(call_id, "x", custom=False)


ITEMS: list[Item] = [
    user_message("window"),
    user_message("prompt"),
    model("I look."),
    call("call_a"),
    call("call_b"),
    result("call_a"),
    result("call_b"),
    model("Seen."),
    user_message("and now?"),
]
"""The messages: 0 system, 1 user, 2 assistant with two calls, 3 and 4 results, 5 assistant, 6 user."""


def count(items: Sequence[Item]) -> int:
    return len(encode_chat(RequestProfile("m", "Be brief."), sendable(items, whole=False))["messages"])


@pytest.mark.parametrize(
    ("param", "message", "left_out"),
    [
        ("messages[5].content", "empty", {7}),
        ("", "Invalid type for 'messages[5].content[0].text'", {7}),
        ("", "messages.5: text content blocks must be non-empty", {7}),
        ("", "The message at index 5 is not valid", {7}),
        ("messages.[2].tool_calls[1].function.arguments", "no JSON", {2, 3, 4, 5, 6}),
        ("messages[3].tool_call_id", "unknown", {3, 5}),
        ("messages[4]", "unknown", {4, 6}),
        ("", "No tool output found for function call call_b.", {4, 6}),
        ("messages[2]", "tool_call_id 'call_a' has no answer", {3, 5}),
        ("messages[0].content", "too much", set()),
        ("messages[1].content", "what a window", set()),
        ("messages[6].content", "what a prompt", set()),
        ("messages[9]", "there is none", set()),
        ("", "this request is not valid", set()),
        ("tools[1]", "not a tool", set()),
        ("", "call_abc is not known", set()),
    ],
)
def test_which_items_a_refusal_names(param: str, message: str, left_out: set[int]) -> None:
    assert refused_items(ServerError("", message, 400, None, param), ITEMS, count) == left_out


def test_other_errors_name_no_item() -> None:
    for status in (401, 429, 500, None):
        assert refused_items(ServerError("", "messages[5]", status, None), ITEMS, count) == set()
    too_long = ServerError("context_length_exceeded", "messages[5] is too long", 400, None)
    assert refused_items(too_long, ITEMS, count) == set()
    anew = ServerError("", "input[1] is wrong", 400, None)
    assert refused_items(anew, ITEMS, None) == set(), "a place in an increment"


SCRIPT = """
[[scenario]]
match = ["begin"]
[[scenario.step]]
say = "An odd answer."
[[scenario]]
match = ["go on"]
times = {times}
[[scenario.step]]
fail = {{ status = 400, message = "Invalid value: 'messages[2].content'." }}
[[scenario]]
match = ["go on"]
[[scenario.step]]
say = "Going on."
"""


async def test_a_request_is_made_once_more_without_what_the_server_names() -> None:
    async with Partner(scripts=parse(SCRIPT.format(times=1))) as partner, over(partner, CHAT) as connection:
        await until(connection, LinkState.READY)
        changes = connection.states()
        items: list[Item] = [user_message("begin")]
        await ask(connection, items)
        items += [model("An odd answer."), user_message("go on")]
        assert said(await ask(connection, items)) == "Going on."
        items += [model("Going on."), user_message("go on")]
        assert said(await ask(connection, items)) == "Going on."
        bodies = [request.body["messages"] for request in partner.requests]
        told: list[LinkChange] = []
        while not any("refused a part" in (change.message or "") for change in told):
            told.append(await anext(changes))
    odd = ["An odd answer." in str(body) for body in bodies]
    assert odd == [False, True, False, False], "it stays out of what follows"


async def test_a_request_that_is_refused_again_fails() -> None:
    async with Partner(scripts=parse(SCRIPT.format(times=9))) as partner, over(partner, CHAT) as connection:
        await until(connection, LinkState.READY)
        with pytest.raises(LinkError, match="Invalid value"):
            await ask(connection, [user_message("begin"), model("An odd answer."), user_message("go on")])
        assert len(partner.requests) == 2
