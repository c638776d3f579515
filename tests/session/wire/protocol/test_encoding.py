"""What goes out: request fields, turns and items in each dialect, and JSON that every server takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from session.wire.protocol.chat import encode_chat
from session.wire.protocol.dialects import FIM_NAMES, NAMES, dialect, origin
from session.wire.protocol.fim import encode_completions, encode_infill
from session.wire.protocol.frames import DEEPEST, NotAnObject, can_be_sent, parse_object, write_body
from session.wire.protocol.items import (
    Item,
    ServerItem,
    ToolDefinition,
    new_call_id,
    readable,
    text_of,
    tool_output,
    user_message,
)
from session.wire.protocol.messages import MAX_TOKENS, encode_messages, encode_warm_up
from session.wire.protocol.request import Quirks, RequestProfile
from session.wire.protocol.responses import encode_response
from session.wire.protocol.sendable import Exchange, Increment, increment, same_item
from session.wire.protocol.turns import Call, Result, Turn, functions, turns

LOOK: ToolDefinition = {
    "type": "function",
    "name": "look",
    "description": "Looks.",
    "parameters": {"type": "object"},
}
BARE: ToolDefinition = {"type": "function", "name": "bare"}
PATCH: ToolDefinition = {"type": "custom", "name": "patch"}
BASE = RequestProfile("m")
FULL = RequestProfile(
    "m",
    "Be brief.",
    (LOOK, PATCH, BARE),
    effort="high",
    service_tier="priority",
    prompt_cache_key="key",
    parallel_tool_calls=False,
    max_output_tokens=9,
    include=("reasoning.encrypted_content",),
    extra={"more": 1},
)


def said(role: str, *texts: str) -> Item:
    return cast("Item", {
        "type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts],
    })  # fmt: skip


def called(call_id: str, arguments: str = "{}") -> Item:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": arguments}


def patched(call_id: str) -> Item:
    return {"type": "custom_tool_call", "call_id": call_id, "name": "patch", "input": "text"}


def thought(**more: Any) -> Item:
    return cast("Item", {"type": "reasoning", "summary": [], **more})


# JSON.


@pytest.mark.parametrize(
    ("frame", "body"),
    [
        ('{"a": 1}', {"a": 1}),
        (' {"a": 1} \n', {"a": 1}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (bytearray(b'{"a": 1}'), {"a": 1}),
        (
            '{"a": ["\\ud83d\\ude00", "\\ud83d", {"\\ud800": 1}], "b": 2}',
            {"a": ["😀", "\ufffd", {"\ufffd": 1}], "b": 2},
        ),
        ('{"a": "\ud83d"}', {"a": "\ufffd"}),
        ('{"a": "é", "b": "\\u00e9"}', {"a": "é", "b": "é"}),
    ],
)
def test_an_object_is_read(frame: str | bytes | bytearray, body: dict[str, Any]) -> None:
    assert parse_object(frame) == body


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ("[1]", "a JSON list where an object was expected"),
        ("3", "a JSON int where"),
        ('{"a": 1} x', "not JSON: Extra data"),
        ('{"a": 1', "not JSON: "),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_object_says_why(frame: str, why: str) -> None:
    with pytest.raises(NotAnObject, match=f"^{why}"):
        parse_object(frame)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"a": "é", "b": [1, None]}, '{"a":"é","b":[1,null]}'),
        ({"a": "x\ud83d"}, '{"a":"x?"}'),
    ],
)
def test_a_body_is_written_short_and_as_it_is(body: dict[str, Any], text: str) -> None:
    assert write_body(body) == text


@pytest.mark.parametrize("value", [float("nan"), {1, 2}])
def test_a_body_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"cannot be written as JSON|not JSON compliant"):
        write_body({"a": value})


def nested(levels: int, kind: str) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "can"),
    [
        ("é", True),
        ("a\ud800", False),
        (1.5, True),
        (float("inf"), False),
        (None, True),
        ({"a": ["b", 1, True]}, True),
        ({"a\ud800": 1}, False),
        ({"a": "\ud800"}, False),
        (["a", "\ud800"], False),
        (nested(DEEPEST, "list"), True),
        (nested(DEEPEST + 1, "list"), False),
        (nested(DEEPEST, "dict"), True),
        (nested(DEEPEST + 1, "dict"), False),
    ],
)
def test_values_that_every_server_accepts(value: object, can: bool) -> None:
    assert can_be_sent(value) is can


# The fields of a request.


@pytest.mark.parametrize(
    ("profile", "standing", "fields"),
    [
        (BASE, False, {"model": "m", "store": False}),
        (
            FULL,
            False,
            {
                "model": "m",
                "store": False,
                "instructions": "Be brief.",
                "tools": [LOOK, PATCH, BARE],
                "reasoning": {"effort": "high", "summary": "auto"},
                "include": ["reasoning.encrypted_content"],
                "service_tier": "priority",
                "prompt_cache_key": "key",
                "parallel_tool_calls": False,
                "max_output_tokens": 9,
                "more": 1,
            },
        ),
        (
            replace(BASE, effort="low", summary=None, store=True),
            False,
            {"model": "m", "store": True, "reasoning": {"effort": "low"}},
        ),
        (
            RequestProfile("m", "x", (LOOK,), tools_as_item=True),
            True,
            {"model": "m", "store": False, "instructions": "x"},
        ),
        (
            RequestProfile("m", "x", (LOOK,), instructions_as_item=True),
            True,
            {"model": "m", "store": False, "tools": [LOOK]},
        ),
        (
            RequestProfile("m", "x", (LOOK,), instructions_as_item=True, tools_as_item=True),
            False,
            {"model": "m", "store": False, "instructions": "x", "tools": [LOOK]},
        ),
    ],
)
def test_the_fields_of_a_request(profile: RequestProfile, standing: bool, fields: dict[str, Any]) -> None:
    assert profile.fields(standing_items=standing) == fields
    assert (profile.fields() == fields) is (not standing)


def test_the_items_that_begin_a_conversation_are_those_the_model_takes_there() -> None:
    both = RequestProfile("m", "x", (LOOK,), instructions_as_item=True, tools_as_item=True)
    offer = {"type": "additional_tools", "role": "developer", "tools": (LOOK,)}
    assert both.standing_items() == [offer, said("developer", "x")]
    assert replace(both, tools=()).standing_items() == [said("developer", "x")]
    assert replace(both, instructions="").standing_items() == [offer]
    assert RequestProfile("m", "x", (LOOK,)).standing_items() == []


BODY = {"a": 1, "b": {"c": 2, "d": 3}, "e": {"c": 2}}


@pytest.mark.parametrize(
    ("quirks", "body"),
    [
        (Quirks(), BODY),
        (Quirks(frozenset({"a", "z"})), {"b": {"c": 2, "d": 3}, "e": {"c": 2}}),
        (Quirks(rename={"a": "x"}), {"x": 1, "b": {"c": 2, "d": 3}, "e": {"c": 2}}),
        (Quirks(frozenset({"b.c"})), {"a": 1, "b": {"d": 3}, "e": {"c": 2}}),
        (Quirks(frozenset({"e.c", "a.c", "z.c"})), {"a": 1, "b": {"c": 2, "d": 3}}),
    ],
)
def test_what_a_provider_refuses_is_left_out_or_renamed(quirks: Quirks, body: dict[str, Any]) -> None:
    assert quirks.apply(BODY) == body and BODY["b"] == {"c": 2, "d": 3}


def test_more_fields_can_be_left_out() -> None:
    quirks = Quirks(frozenset({"a"}), {"b": "x"})
    assert quirks.without(frozenset({"e"})) == Quirks(frozenset({"a", "e"}), {"b": "x"})
    assert quirks.without(frozenset()) is quirks


# Turns.

MORE_EFFORT = cast("Item", {"type": "configuration_update", "reasoning": {"effort": "high"}})


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], []),
        ([user_message(" \n"), said("assistant", "")], []),
        ([user_message(" \n"), user_message("a")], [Turn("user", ["a"])]),
        ([user_message("a"), MORE_EFFORT], [replace(Turn("user", ["a"]), effort="high")]),
        (
            [MORE_EFFORT, user_message("a"), said("assistant", "b")],
            [replace(Turn("user", ["a"]), effort="high"), Turn("assistant", ["b"])],
        ),
        (
            [user_message("a"), said("assistant", "b"), MORE_EFFORT],
            [Turn("user", ["a"]), Turn("assistant", ["b"])],
        ),
        ([user_message("a"), said("developer", "b")], [Turn("user", ["a", "<developer>\nb\n</developer>"])]),
        (
            [
                user_message("a"),
                said("assistant", "b"),
                called("1"),
                patched("2"),
                tool_output("1", "x"),
                tool_output("2", "y", custom=False),
                user_message("c"),
            ],
            [
                Turn("user", ["a"]),
                Turn(
                    "assistant",
                    ["b"],
                    [Call("1", "look", "{}", custom=False), Call("2", "patch", "text", custom=True)],
                ),
                Turn("user", ["c"], [], [Result("1", "x"), Result("2", "y")]),
            ],
        ),
        (
            [thought(thinking=[{"data": 1}], reasoning_content="r"), called("1"), said("assistant", "b")],
            [
                Turn(
                    "assistant",
                    ["b"],
                    [Call("1", "look", "{}", custom=False)],
                    [],
                    cast("Any", [{"data": 1}]),
                    ["r"],
                )
            ],
        ),
        (
            [
                thought(thinking=[{"data": 1}], reasoning_content="r"),
                user_message("a"),
                said("assistant", "b"),
            ],
            [Turn("user", ["a"]), Turn("assistant", ["b"])],
        ),
        ([thought(), said("assistant", "b")], [Turn("assistant", ["b"])]),
    ],
)
def test_items_become_turns(items: list[Item], told: list[Turn]) -> None:
    assert turns(items) == told


def test_freeform_tools_are_no_functions() -> None:
    assert functions((LOOK, PATCH, BARE)) == [LOOK, BARE]


# Items.

SEALED = thought(encrypted_content="x", origin="responses m")


def test_reasoning_goes_back_to_where_it_is_from_without_the_mark() -> None:
    items = [user_message("a"), SEALED, thought(encrypted_content="y"), called("1")]
    assert readable(items, "responses m") == [
        user_message("a"),
        thought(encrypted_content="x"),
        thought(encrypted_content="y"),
        called("1"),
    ]
    assert readable(items, "chat m") == [user_message("a"), thought(encrypted_content="y"), called("1")]
    assert "origin" in SEALED, "the conversation keeps its own"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"content": [{"text": "a"}, {"refusal": "b"}, "c", {"text": 3}, {}]}, "ab"),
        ({"content": "plain"}, "plain"),
        ({"output": "out"}, "out"),
        ({"content": 3}, ""),
        ({}, ""),
    ],
)
def test_the_text_of_an_item(item: dict[str, Any], text: str) -> None:
    assert text_of(item) == text


def test_outputs_have_the_kind_of_their_call_and_new_ids_differ() -> None:
    assert tool_output("1", "x") == {"type": "custom_tool_call_output", "call_id": "1", "output": "x"}
    assert tool_output("1", "x", custom=False)["type"] == "function_call_output"
    assert new_call_id() != new_call_id() and len(new_call_id()) == 29


@pytest.mark.parametrize(
    ("item", "answered", "same"),
    [
        (called("1"), {**called("1"), "id": "f", "status": "completed"}, True),
        (called("1"), called("2"), False),
        (called("1"), called("1", "[]"), False),
        (called("1"), patched("1"), False),
        (patched("1"), {**patched("1"), "input": "other"}, False),
        (said("assistant", "a"), {"type": "message", "role": "assistant", "content": "a", "id": 1}, True),
        (said("assistant", "a"), said("user", "a"), False),
        (said("assistant", "a"), said("assistant", "b"), False),
        (thought(encrypted_content="x", summary=[1]), thought(encrypted_content="x", id="r"), True),
        (thought(encrypted_content="x"), thought(encrypted_content="y"), False),
        ({"type": "web", "q": 1}, {"type": "web", "q": 1, "id": "w", "status": "done"}, True),
        ({"type": "web", "q": 1}, {"type": "web", "q": 2}, False),
    ],
)
def test_whether_an_item_is_the_servers(item: Any, answered: ServerItem, same: bool) -> None:
    assert same_item(item, answered) is same


FIRST = (user_message("one"),)
NEW = user_message("two")


@pytest.mark.parametrize(
    ("before", "now", "same_effort", "continues"),
    [
        ("low", "low", False, True),
        ("low", "low", True, True),
        ("low", "high", False, True),
        ("low", "high", True, False),
        (None, "high", False, False),
        ("low", None, False, False),
        (None, None, False, True),
    ],
)
def test_another_effort_continues_where_the_server_allows_it(
    before: str | None, now: str | None, same_effort: bool, continues: bool
) -> None:
    last = Exchange(replace(BASE, effort=before), FIRST, "r1")
    items = [*FIRST, NEW]
    found = increment(last, replace(BASE, effort=now), items, same_effort=same_effort)
    assert found == (Increment("r1", (NEW,)) if continues else Increment(None, tuple(items)))
    other = increment(last, replace(BASE, effort=now, store=True), items, same_effort=same_effort)
    assert other == Increment(None, tuple(items))


# The dialects.

TALK = [
    user_message("a"),
    thought(thinking=[{"type": "thinking", "thinking": "t", "signature": "s"}], reasoning_content="r"),
    said("assistant", "b"),
    called("1", '{"p":1}'),
    patched("2"),
    tool_output("1", "x", custom=False),
    tool_output("2", "y"),
    user_message("c"),
    user_message("d"),
    said("assistant", "e"),
]
CHAT_CALLS = [
    {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"p":1}'}},
    {"id": "2", "type": "function", "function": {"name": "patch", "arguments": '{"input": "text"}'}},
]
RESULTS = [
    {"role": "tool", "tool_call_id": "1", "content": "x"},
    {"role": "tool", "tool_call_id": "2", "content": "y"},
]


def test_a_chat_request() -> None:
    assert encode_chat(FULL, TALK) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "tool_calls": CHAT_CALLS},
            *RESULTS,
            {"role": "user", "content": "c\n\nd"},
            {"role": "assistant", "content": "e"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
            },
            {"type": "function", "function": {"name": "bare"}},
        ],
        "parallel_tool_calls": False,
        "reasoning_effort": "high",
        "max_completion_tokens": 9,
        "service_tier": "priority",
        "prompt_cache_key": "key",
        "more": 1,
    }
    assert encode_chat(BASE, []) == {
        "model": "m",
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "parallel_tool_calls" not in encode_chat(replace(BASE, parallel_tool_calls=True), [])


def test_a_chat_request_of_a_server_that_wants_its_reasoning_back() -> None:
    messages = encode_chat(replace(BASE, reasoning_field="thought"), [*TALK, called("3")])["messages"]
    assert messages[1] == {"role": "assistant", "content": "b", "thought": "r", "tool_calls": CHAT_CALLS}
    assert messages[4] == {"role": "user", "content": "c\n\nd"}
    assert messages[5]["thought"] == "" and messages[5]["content"] == "e"
    alone = encode_chat(BASE, [called("3")])["messages"]
    assert alone[0]["content"] is None and "thought" not in alone[0]
    three = encode_chat(BASE, [user_message(each) for each in "abc"])["messages"]
    assert three[0]["content"] == "a\n\nb\n\nc"


CACHED = {"cache_control": {"type": "ephemeral"}}


def test_a_messages_request() -> None:
    assert encode_messages(FULL, TALK) == {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": "s"},
                    {"type": "text", "text": "b"},
                    {"type": "tool_use", "id": "1", "name": "look", "input": {"p": 1}},
                    {"type": "tool_use", "id": "2", "name": "patch", "input": {"input": "text"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "x"},
                    {"type": "tool_result", "tool_use_id": "2", "content": "y"},
                    {"type": "text", "text": "c"},
                    {"type": "text", "text": "d"},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "e", **CACHED}]},
        ],
        "stream": True,
        "thinking": {"type": "enabled", "budget_tokens": 12_000},
        "max_tokens": 12_009,
        "system": [{"type": "text", "text": "Be brief.", **CACHED}],
        "tools": [
            {"name": "look", "input_schema": {"type": "object"}, "description": "Looks."},
            {"name": "bare", "input_schema": {"type": "object", "properties": {}}},
        ],
        "more": 1,
    }
    plain = {"model": "m", "messages": [], "stream": True, "max_tokens": MAX_TOKENS}
    assert encode_messages(BASE, []) == plain and MAX_TOKENS == 16_000


@pytest.mark.parametrize(
    ("effort", "budget"),
    [("low", None), ("medium", 4_096), ("high", 12_000), ("xhigh", 24_000), (None, None)],
)
def test_an_effort_is_a_thinking_budget_beside_the_answer(effort: str | None, budget: int | None) -> None:
    body = encode_messages(replace(BASE, effort=effort), [])
    assert body.get("thinking", {}).get("budget_tokens") == budget
    assert body["max_tokens"] == MAX_TOKENS + (budget or 0)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", {"input": "[1]"}),
        ("nonsense", {"input": "nonsense"}),
        ('{"a": NaN}', {"input": '{"a": NaN}'}),
    ],
)
def test_arguments_of_calls_are_objects(arguments: str, given: dict[str, Any]) -> None:
    body = encode_messages(BASE, [called("1", arguments)])
    assert body["messages"][0]["content"] == [
        {"type": "tool_use", "id": "1", "name": "look", "input": given, **CACHED}
    ]


def test_a_request_that_warms_up_asks_for_no_token_and_does_not_think() -> None:
    body = encode_warm_up(FULL)
    assert (body["messages"], body["max_tokens"]) == ([{"role": "user", "content": "."}], 0)
    assert not body.keys() & {"stream", "thinking"} and body["system"] and body["tools"]
    other = {"type": "adaptive"}
    assert encode_warm_up(replace(BASE, extra={"thinking": other}))["thinking"] == other


def test_a_responses_request_over_http() -> None:
    profile = replace(BASE, responses_extra={"text": 1}, extra={"text": 0})
    assert encode_response(profile, FIRST) == {
        "model": "m",
        "store": False,
        "text": 1,
        "input": list(FIRST),
        "stream": True,
    }


def test_requests_that_fill_the_middle() -> None:
    profile, gap = replace(BASE, max_output_tokens=50), [user_message("before"), user_message("after")]
    assert encode_completions(profile, gap) == {
        "model": "m",
        "prompt": "before",
        "suffix": "after",
        "max_tokens": 50,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert encode_infill(profile, gap) == {
        "input_prefix": "before",
        "input_suffix": "after",
        "n_predict": 50,
        "temperature": 0,
        "cache_prompt": True,
        "stream": True,
    }


def test_the_dialects_by_name() -> None:
    paths = {name: dialect(name).path for name in (*NAMES, *FIM_NAMES)}
    assert paths == {
        "responses": "/responses",
        "chat": "/chat/completions",
        "messages": "/messages",
        "completions": "/completions",
        "infill": "/../infill",
        "tokens": "/completions",
        "fim": "/fim/completions",
        "beta": "/../beta/completions",
    }
    assert [name for name in paths if dialect(name).encode_warm_up] == ["messages"]
    assert all(dialect(name).name == name for name in paths)
    assert origin("chat", BASE) == "chat m"
    with pytest.raises(KeyError, match="none"):
        dialect("none")
