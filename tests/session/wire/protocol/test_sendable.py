"""Tests that a request holds only what every server takes, whatever earlier answers held."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.wire.input_items import answer_items
from session.wire.protocol.chat import encode_chat
from session.wire.protocol.frames import write_body
from session.wire.protocol.items import Item, tool_output, user_message
from session.wire.protocol.messages import encode_messages
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.sendable import sendable
from tests.thorough import share

ASKED = user_message("ask")


def call(call_id: str = "c", name: str = "read", arguments: str = "{}") -> Item:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def result(call_id: str = "c", text: str = "x") -> Item:
    return tool_output(call_id, text, custom=False)


BAD_ARGUMENTS = [
    '{"path": "app.py"',
    '{"path": app.py}',
    "",
    "null",
    "[]",
    '"x"',
    "{} {}",
    "app.py",
    '{"a": NaN}',
]


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_arguments_that_are_no_object_go_back_in_one(arguments: str) -> None:
    sent = sendable([ASKED, call(arguments=arguments), result()])
    assert sent == [ASKED, call(arguments=json.dumps({"input": arguments})), result()]


@pytest.mark.parametrize("arguments", ["{}", '{ "p" : 1 }', '{"a": "é"}'])
def test_arguments_that_are_an_object_stay_as_they_are(arguments: str) -> None:
    assert sendable([call(arguments=arguments), result()]) == [call(arguments=arguments), result()]


def test_half_a_pair_in_arguments_is_replaced() -> None:
    (sent, _) = sendable([call(arguments='{"a": "\\ud83d"}'), result()])
    assert sent == call(arguments='{"a": "�"}')


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("read", "read"),
        ("read<|channel|>json", "read_channel_json"),
        ("read file", "read_file"),
        ('read{"path": "a"}', "read_path_a"),
        ("functions.read:0", "functions_read_0"),
        ("über", "ber"),
        ("x" * 80, "x" * 64),
        ("<>", "unnamed"),
    ],
)
def test_a_name_is_one_that_a_tool_can_have(name: str, sent: str) -> None:
    assert sendable([call(name=name), result()])[0] == call(name=sent)
    custom: Item = {"type": "custom_tool_call", "call_id": "c", "name": name, "input": "x"}
    assert sendable([custom, tool_output("c", "y")])[0] == {**custom, "name": sent}


def test_each_call_has_its_result_and_each_result_its_call() -> None:
    none = "There is no result of this call."
    items = [ASKED, call("a"), call("b"), result("b"), ASKED, result("z"), call("d")]
    sent = [ASKED, call("a"), call("b"), result("b"), result("a", none), ASKED, call("d"), result("d", none)]
    assert sendable(items) == sent
    assert sendable([result("z"), ASKED], whole=False) == [result("z"), ASKED], "the server has its call"


def test_what_is_empty_is_left_out_or_named() -> None:
    blank: Item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": " \n"}],
    }
    assert sendable([ASKED, blank, call(), result(text="")]) == [ASKED, call(), result(text="(no output)")]


def test_ids_are_those_that_the_server_takes() -> None:
    odd = [
        call("functions.read:0"),
        call("functions_read:0"),
        result("functions_read:0"),
        result("functions.read:0"),
    ]
    assert sendable(odd) == odd
    plain = sendable(odd, plain_ids=True)
    assert [item.get("call_id") for item in plain] == [
        "functions_read_0",
        "functions_read_0-2",
        "functions_read_0-2",
        "functions_read_0",
    ]
    long = sendable([call("x" * 70), call("x" * 71), result("x" * 70), result("x" * 71)])
    ids = [str(item.get("call_id")) for item in long]
    assert ids[:2] == ids[2:] and len(set(ids)) == 2 and max(map(len, ids)) <= 64


TEXTS = st.text(max_size=12) | st.sampled_from(BAD_ARGUMENTS)
CONTENT = st.lists(st.fixed_dictionaries({"type": st.just("output_text"), "text": TEXTS}), max_size=2)
OUTPUT = st.fixed_dictionaries(
    {"type": st.sampled_from(["function_call", "custom_tool_call", "message"])},
    optional={**dict.fromkeys(("call_id", "id", "name", "arguments", "input"), TEXTS), "content": CONTENT},
)


@settings(max_examples=share(200, 40), deadline=None)
@given(st.lists(st.lists(OUTPUT, max_size=4), max_size=4))
def test_a_strict_server_takes_whatever_was_answered(answers: list[list[dict[str, Any]]]) -> None:
    items: list[Item] = [ASKED]
    for output in answers:
        known = {item["call_id"] for item in items if item["type"] in ("function_call", "custom_tool_call")}
        items += [*answer_items(output, known), ASKED]
    body = json.loads(write_body(encode_chat(RequestProfile("m"), sendable(items))))
    calls = [each for message in body["messages"] for each in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
    for each in calls:
        assert isinstance(json.loads(each["function"]["arguments"]), dict)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each["function"]["name"])
    assert sorted(each["id"] for each in calls) == sorted(results) and len(set(results)) == len(results)
    assert all(message["content"] or message.get("tool_calls") for message in body["messages"])
    turned = encode_messages(RequestProfile("m"), sendable(items, plain_ids=True))["messages"]
    blocks = [block for message in turned for block in message["content"]]
    used = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in used)
    assert sorted(used) == sorted(block["tool_use_id"] for block in blocks if block["type"] == "tool_result")
