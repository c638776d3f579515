"""The request for the model's own ledger: what is asked, and what is made of the events that come."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from session.base.events import LedgerProposed, Notice, Usage
from session.turn.compaction.compact import Room
from session.turn.compaction.model_summary import SummaryRequest
from session.wire.instructions import ledger_instructions
from session.wire.protocol import events as wire
from session.wire.protocol.items import Item
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError, LinkProblem
from tests.session.turn.compaction.saying import counter, past, turn

TURNS = [
    turn(1, "Write a parser for the colour table. Never add a dependency.", "I'll keep the table. " * 40),
    turn(2, "Make it streaming", "Next: the tests of the parser."),
]
REPLY = json.dumps({"goal": "A parser for the colour table", "next": ["tests of the parser"]})
USED = wire.TokenUsage(900, 100, 40, 10)
PROFILE = RequestProfile(
    model="m", instructions="Help.", tools=({"type": "function", "name": "look"},), effort="high",
    prompt_cache_key="key", include=("reasoning",),
)  # fmt: skip


def message(text: str) -> Any:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def whole(text: str, usage: wire.TokenUsage | None = USED) -> wire.Finished:
    return wire.Finished(
        "completed", "r", (message(text), {"type": "reasoning", "id": "x", "summary": []}), usage, None
    )


class Asked:
    """A connection that answers one request beside the conversation."""

    def __init__(self, *answer: wire.WireEvent | Exception) -> None:
        self.answer = answer
        self.profile: RequestProfile | None = None
        self.items: Sequence[Item] = ()
        self.read = 0

    async def ask_in_parallel(
        self, profile: RequestProfile, items: Sequence[Item]
    ) -> AsyncIterator[wire.WireEvent]:
        self.profile, self.items = profile, items
        for event in self.answer:
            if isinstance(event, Exception):
                raise event
            self.read += 1
            yield event


async def put(
    asked: Asked, *, profile: RequestProfile = PROFILE, target: int = 100, effort: str | None = "low"
) -> tuple[LedgerProposed | Notice | Usage, ...]:
    room = Room(limit=2 * target, target=target)
    request = SummaryRequest(past(TURNS), room, 10_000, counter(), profile, effort, None)
    stand_in: Any = asked
    return await request.put(stand_in)


PROPOSED = LedgerProposed("t2", "A parser for the colour table", (), (), ("tests of the parser",), 0, 900, 40)


@pytest.mark.parametrize(
    "answer",
    [
        [whole(REPLY)],
        [
            wire.Created("r"),
            wire.TextDelta(REPLY[:20]),
            wire.TextDelta(REPLY[20:]),
            wire.Finished("completed", "r", (), USED, None),
        ],
        [wire.TextDelta("other words"), whole(REPLY)],
        [
            wire.TextDelta("{lost"),
            wire.Created("r2"),
            wire.TextDelta(REPLY),
            wire.Finished("completed", "r2", (), USED, None),
        ],
        [wire.ReasoningDelta("hm"), wire.Garbled("x"), whole(REPLY)],
    ],
)
async def test_the_reply_is_taken_from_the_end_or_from_its_pieces(
    answer: list[wire.WireEvent],
) -> None:
    usage, proposed = await put(Asked(*answer))
    assert proposed == PROPOSED
    assert isinstance(usage, Usage) and usage.turn == "t2 ledger" and usage.model == "m"
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.estimated) == (
        900,
        100,
        40,
        False,
    )


async def test_it_is_asked_as_the_conversation_is_but_with_instructions_of_its_own() -> None:
    asked = Asked(whole(REPLY))
    await put(asked)
    profile = asked.profile
    assert profile is not None and profile.instructions == ledger_instructions().text
    assert (profile.model, profile.tools, profile.effort, profile.include) == ("m", (), "low", ())
    assert (profile.prompt_cache_key, profile.max_output_tokens) == ("key-ledger", 4_000)
    (item,) = asked.items
    assert "Write a parser" in str(item) and "Make it streaming" in str(item)


@pytest.mark.parametrize(
    ("profile", "effort", "key"),
    [
        (RequestProfile(model="m", instructions="", tools=()), None, None),
        (RequestProfile(model="m", instructions="", tools=(), prompt_cache_key=""), None, None),
        (RequestProfile(model="m", instructions="", tools=(), effort="high"), "low", None),
    ],
)
async def test_what_the_conversation_does_not_have_is_not_asked_for(
    profile: RequestProfile, effort: str | None, key: str | None
) -> None:
    asked = Asked(whole(REPLY))
    await put(asked, profile=profile)
    assert asked.profile is not None
    assert (asked.profile.effort, asked.profile.prompt_cache_key) == (effort, key)


async def test_tokens_that_are_not_counted_are_estimated() -> None:
    usage, proposed = await put(Asked(whole(REPLY, None)))
    assert isinstance(usage, Usage) and usage.estimated and isinstance(proposed, LedgerProposed)
    assert usage.output_tokens == counter().count(REPLY) == proposed.output_tokens
    assert usage.input_tokens == proposed.input_tokens > counter().count(ledger_instructions().text) + 60


async def test_a_dialogue_that_is_short_is_not_worth_a_request() -> None:
    tokens = sum(counter().count(each.text()) for each in TURNS)
    for target, asked_for in ((int(tokens / 0.8), True), (int(tokens / 0.8) + 2, False)):
        asked = Asked(whole(REPLY))
        assert bool(await put(asked, target=target)) == asked_for == (asked.profile is not None)


async def test_what_goes_wrong_is_told_in_a_line() -> None:
    lost = await put(Asked(LinkError(LinkProblem.CLOSED, "it\nclosed")))
    assert lost == (Notice("info", "The ledger is made by rules: it closed"),)
    usage, notice = await put(Asked(whole("no ledger")))
    why = "the model's reply cannot be used: it holds no JSON object (900 + 40 tokens)"
    assert isinstance(usage, Usage)
    assert notice == Notice("info", f"The ledger is made by rules: {why}")


@pytest.mark.parametrize(("characters", "read"), [(1_000_000, 2), (1_000_001, 1)])
async def test_an_answer_without_end_is_not_read_on(characters: int, read: int) -> None:
    asked = Asked(wire.TextDelta("x" * characters), whole(REPLY))
    await put(asked)
    assert asked.read == read
