from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from session.turn.turn_memory import Conversation
from session.wire.input_items import answer_items, assistant_message, developer_message, item_text

MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "status": "completed",
    "role": "assistant",
    "phase": "final_answer",
    "content": [
        {"type": "output_text", "text": "Hello", "annotations": [{"type": "url"}], "logprobs": [1]},
        {"type": "refusal", "refusal": "No."},
        {"type": "output_audio", "data": "…"},
        {"type": "output_text", "text": ""},
    ],
}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "status": "completed",
    "summary": [{"type": "summary_text", "text": "thought"}],
    "content": [{"type": "reasoning_text", "text": "raw"}],
    "encrypted_content": "gAAA",
}
CALL = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "status": "completed",
    "call_id": "call_1",
    "name": "apply_patch",
    "input": "*** Begin Patch\n",
}


def kept(output: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(item) for item in answer_items(output)]


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def test_items_are_sent_back_with_the_fields_a_server_takes_and_no_others() -> None:
    assert kept([REASONING, MESSAGE, CALL]) == [
        {"type": "reasoning", "summary": REASONING["summary"], "encrypted_content": "gAAA"},
        {
            "type": "message",
            "role": "assistant",
            "phase": "final_answer",
            "content": [{"type": "output_text", "text": "Hello"}, {"type": "refusal", "refusal": "No."}],
        },
        {
            "type": "custom_tool_call",
            "call_id": "call_1",
            "name": "apply_patch",
            "input": "*** Begin Patch\n",
        },
    ]


@pytest.mark.parametrize("encrypted", [None, "", 7, ["x"]])
def test_reasoning_without_its_encrypted_content_is_left_out(encrypted: object) -> None:
    assert kept([without(REASONING, "encrypted_content")]) == []
    assert kept([{**REASONING, "encrypted_content": encrypted}]) == []


def test_reasoning_always_has_a_summary() -> None:
    assert kept([without(REASONING, "summary")])[0]["summary"] == []


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"type": None},
        {"type": ["message"]},
        {"type": "web_search_call", "id": "x"},
        {"type": "function_call", "name": "rm", "arguments": ["x"], "call_id": "c"},
        {"type": "function_call", "call_id": "c", "arguments": "{}"},
        {"type": "function_call", "name": "rm", "arguments": "{", "call_id": "c", "status": "incomplete"},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": []},
        {"type": "message", "role": "assistant", "content": "text"},
        {"type": "message", "role": "assistant", "content": ["text", 3, None]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": 3}]},
        {"type": "message", "role": "assistant"},
        without(CALL, "call_id"),
        without(CALL, "input"),
        without(CALL, "name"),
        {**CALL, "call_id": ""},
        {**CALL, "input": {"patch": "x"}},
        {**CALL, "status": "incomplete"},
    ],
)
def test_items_that_a_server_would_refuse_are_left_out(item: dict[str, Any]) -> None:
    assert kept([item, MESSAGE]) == kept([MESSAGE])


def called(**fields: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": "read", "call_id": "c", "arguments": "{}", **fields}


def test_each_call_has_an_id_of_its_own() -> None:
    items = kept([called(), called(name="list"), called(), called(name="run")])
    assert [(item["name"], item["call_id"]) for item in items] == [
        ("read", "c"),
        ("list", "c-2"),
        ("run", "c-3"),
    ], "and one that came twice is one"
    assert kept(items) == items


def test_missing_fields_of_a_function_call_are_filled_in() -> None:
    one, two = kept([called(call_id=None, id="f"), called(call_id="", arguments={"path": "a"})])
    assert (one["call_id"], one["arguments"]) == ("f", "{}")
    assert two["call_id"] and two["arguments"] == '{"path": "a"}'
    assert kept([called(arguments=None)]) == [called()]


def test_a_tool_call_may_have_an_empty_input() -> None:
    assert kept([{**CALL, "input": ""}])[0]["input"] == ""


def test_the_words_of_a_message_that_was_cut_are_kept() -> None:
    assert kept([{**MESSAGE, "status": "incomplete"}]) == kept([MESSAGE])


@pytest.mark.parametrize("role", ["developer", "system", "user", None, 3])
def test_a_message_of_an_answer_is_always_the_assistants(role: object) -> None:
    assert kept([{**MESSAGE, "role": role}])[0]["role"] == "assistant"


def test_the_servers_items_are_not_changed() -> None:
    before = repr(MESSAGE)
    kept([MESSAGE])[0]["content"].clear()
    assert repr(MESSAGE) == before


def test_item_text_is_what_costs_tokens() -> None:
    assert item_text(developer_message("context")) == "context"
    assert item_text(assistant_message("said")) == "said"
    assert item_text(kept([MESSAGE])[0]) == "Hello\nNo."
    assert item_text(CALL) == "apply_patch\n*** Begin Patch\n"
    assert item_text({"type": "custom_tool_call_output", "call_id": "c", "output": "done"}) == "done"
    assert item_text(kept([REASONING])[0]) == "gAAA"


def test_each_role_has_its_own_kind_of_content() -> None:
    ours, models = dict(developer_message("a")), dict(assistant_message("a"))
    assert ours["content"] == [{"type": "input_text", "text": "a"}]
    assert models["content"] == [{"type": "output_text", "text": "a"}]
    assert (ours["role"], models["role"]) == ("developer", "assistant")


def test_a_conversation_grows_counts_and_starts_over() -> None:
    conversation = Conversation()
    one, two = developer_message("one"), assistant_message("two")
    conversation.extend([one], 3)
    conversation.extend([two], 4)
    assert list(conversation.items) == [one, two]
    assert conversation.tokens == 7
    copy = conversation.copied()
    conversation.clear()
    assert (list(copy.items), copy.tokens) == ([one, two], 7)
    assert (list(conversation.items), conversation.tokens) == ([], 0)


@pytest.mark.parametrize("odd", [float("nan"), [float("inf")], json.loads("[" * 900 + "]" * 900)])
def test_items_that_cannot_be_encoded_are_left_out(odd: object) -> None:
    item = {"type": "reasoning", "id": "r", "encrypted_content": "x", "summary": [odd]}
    assert kept([item, assistant_message("kept")]) == [assistant_message("kept")]
