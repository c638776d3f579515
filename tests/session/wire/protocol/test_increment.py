"""Tests the increment rule: when a request sends only new items, and when the full input."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from session.wire.protocol.items import Item, ServerItem, tool_output, user_message
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.sendable import Exchange, Increment, increment

PROFILE = RequestProfile("m", "instructions")
ANSWER: Any = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
CALL: ServerItem = {
    "id": "c",
    "type": "custom_tool_call",
    "call_id": "1",
    "name": "apply_patch",
    "input": "x",
}
THOUGHT: ServerItem = {"id": "rs_1", "type": "reasoning", "summary": []}
FIRST = (user_message("one"),)


def after(*output: ServerItem) -> Exchange:
    return Exchange(PROFILE, FIRST, "resp_1", output)


def test_the_next_turn_sends_only_new_items() -> None:
    new = user_message("two")
    assert increment(after(ANSWER), PROFILE, [*FIRST, ANSWER, new]) == Increment("resp_1", (new,))


def test_the_first_prompt_after_a_warm_up_sends_the_full_input() -> None:
    assert increment(Exchange(PROFILE, (), "resp_0"), PROFILE, FIRST) == Increment("resp_0", FIRST)


def test_the_caller_may_omit_reasoning_empty_messages_and_ids() -> None:
    stripped: Item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hello"}],
    }
    call: Any = {key: value for key, value in CALL.items() if key != "id"}
    result = tool_output("1", "done")
    empty: ServerItem = {"id": "m", "type": "message", "role": "assistant", "content": []}
    new = increment(after(THOUGHT, ANSWER, empty, CALL), PROFILE, [*FIRST, stripped, call, result])
    assert new == Increment("resp_1", (result,))


def test_any_other_change_sends_the_full_input() -> None:
    new = user_message("two")
    full: tuple[tuple[Exchange | None, RequestProfile, list[Item]], ...] = (
        (None, PROFILE, [*FIRST, ANSWER, new]),
        (after(ANSWER), RequestProfile("m", "other"), [*FIRST, ANSWER, new]),
        (after(ANSWER), PROFILE, [user_message("changed"), ANSWER, new]),
        (after(ANSWER), PROFILE, [*FIRST, new]),
        (after(CALL), PROFILE, [*FIRST, cast("Item", {**CALL, "input": "y"}), new]),
        (after(ANSWER), PROFILE, [*FIRST, cast("Item", {**ANSWER, "content": "Hell"}), new]),
        (after(ANSWER), PROFILE, [*FIRST, ANSWER]),
        (after(ANSWER), PROFILE, []),
        (Exchange(PROFILE, FIRST, ""), PROFILE, [*FIRST, new]),
    )
    for last, profile, items in full:
        assert increment(last, profile, items) == Increment(None, tuple(items))


WORDS = st.lists(st.text(max_size=3).map(user_message), max_size=4)


@given(WORDS, WORDS, WORDS)
def test_the_sent_items_complete_the_servers_conversation(
    before: list[Any], new: list[Any], other: list[Any]
) -> None:
    last = Exchange(PROFILE, tuple(before), "resp_1", (ANSWER,))
    for items in ([*before, ANSWER, *new], [*other, *new]):
        part = increment(last, PROFILE, items)
        known = () if part.previous_response_id is None else (*before, ANSWER)
        assert (*known, *part.items) == tuple(items)
