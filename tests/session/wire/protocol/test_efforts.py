"""Tests that another effort within a conversation leaves all that went before as it was."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from session.wire.protocol.dialects import dialect
from session.wire.protocol.efforts import EffortChange, SteadyEfforts, with_efforts
from session.wire.protocol.items import Item, tool_output, user_message
from session.wire.protocol.request import RequestProfile

PROFILE = RequestProfile("m", effort="low", effort_field=True, effort_items=True)


def said(text: str) -> Item:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def call(name: str) -> Item:
    return {"type": "function_call", "call_id": name, "name": "read", "arguments": "{}"}


A, B, C, D = (user_message(text) for text in ("one", "two", "three", "four"))
CALL, RESULT = call("c1"), tool_output("c1", "text", custom=False)
FIRST = (A,)
SECOND = (A, said("1"), B)
THIRD = (*SECOND, CALL, RESULT)
FOURTH = (*THIRD, said("2"), C)


def asked(*turns: tuple[str, tuple[Item, ...]]) -> list[dict[str, Any]]:
    """The bodies of the requests of a conversation, in the order of ``turns``, in both dialects."""
    bodies = []
    for name in ("responses", "messages"):
        efforts = SteadyEfforts()
        for effort, items in turns:
            profile = RequestProfile("m", effort=effort, effort_field=True, effort_items=True)
            steady, changes = efforts.spread(profile, items, keep=True)
            bodies.append(dialect(name).encode(steady, with_efforts(items, changes)))
    return bodies


def conversation(body: dict[str, Any]) -> list[Any]:
    messages: list[Any] = body.get("input") or body["messages"]
    for message in messages:
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            block.pop("cache_control", None)
    return messages


@pytest.mark.parametrize(
    "turns",
    [
        (("low", FIRST), ("high", SECOND), ("high", THIRD), ("low", FOURTH)),
        (("high", FIRST), ("low", SECOND), ("low", THIRD), ("max", FOURTH)),
        (("low", FIRST), ("low", SECOND), ("low", THIRD), ("low", FOURTH)),
    ],
)
def test_each_request_begins_with_the_one_before_and_has_its_field(
    turns: tuple[tuple[str, tuple[Item, ...]], ...],
) -> None:
    bodies = asked(*turns)
    for of_dialect in (bodies[:4], bodies[4:]):
        for (before, after), (_, (effort, _)) in zip(pairwise(of_dialect), pairwise(turns), strict=True):
            one, two = conversation(before), conversation(after)
            assert two[: len(one)] == one
            assert {**before, "input": (), "messages": ()} == {**after, "input": (), "messages": ()}
            assert latest_effort(after) == effort


def latest_effort(body: dict[str, Any]) -> str:
    told = body.get("reasoning", body.get("output_config"))
    for item in conversation(body):
        told = item.get("reasoning", item.get("output_config")) or told
    assert told is not None
    return str(told["effort"])


def test_the_change_stands_before_the_prompt_in_responses_and_behind_it_in_messages() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    system = {"role": "system", "content": [], "output_config": {"effort": "high"}}
    bodies = asked(("low", FIRST), ("high", SECOND))
    assert bodies[1]["input"][2:] == [update, B]
    assert bodies[3]["messages"][-1] == system
    assert bodies[3]["messages"][-2]["content"][-1]["cache_control"], "the prompt is what is cached"


@pytest.mark.parametrize(
    ("before", "items", "effort", "changes"),
    [
        (("high", FIRST), (B,), "high", (EffortChange(0, "high"),)),  # a window that begins anew
        (("high", SECOND), (A, said("1"), C), "high", (EffortChange(2, "high"),)),  # another prompt
        (("high", SECOND), (A, said("1"), C), "low", ()),  # the change was never needed
        (("high", SECOND), (*SECOND, CALL, RESULT), "max", (EffortChange(2, "high"), EffortChange(5, "max"))),
    ],
)
def test_a_change_goes_with_the_items_that_it_stood_among(
    before: tuple[str, tuple[Item, ...]],
    items: tuple[Item, ...],
    effort: str,
    changes: tuple[EffortChange, ...],
) -> None:
    efforts = SteadyEfforts()
    efforts.steady(PROFILE)  # what a warm-up was asked with
    for asked_with, sent in (before, (effort, items)):
        profile = RequestProfile("m", effort=asked_with, effort_items=True)
        steady, made = efforts.spread(profile, sent, keep=True)
        assert steady.effort == "low"
    assert made == changes


def test_what_is_asked_beside_the_conversation_leaves_no_trace_in_it() -> None:
    efforts = SteadyEfforts()
    efforts.spread(PROFILE, FIRST, keep=True)
    beside = RequestProfile("m", effort="max", effort_items=True)
    assert efforts.spread(beside, (*FIRST, B), keep=False)[1] == (EffortChange(1, "max"),)
    assert efforts.spread(beside, (B,), keep=False) == (beside, ())
    assert efforts.spread(PROFILE, SECOND, keep=True)[1] == ()
    assert efforts.spread(RequestProfile("m"), SECOND, keep=True) == (RequestProfile("m"), ())
