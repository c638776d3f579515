"""A prompt in the middle of an answer: the same connection goes on with it, and nothing is sent again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from session.partner.load_script import parse
from session.partner.script import Script
from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, Service
from session.wire.link.state import LinkState
from session.wire.link.steer import UNREAD, words
from session.wire.protocol.events import (
    Finished,
    ReasoningDelta,
    Steered,
    TextDelta,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.items import Item, tool_output, user_message
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.test_connection import PROFILE, ask, output, said, until

STEERABLE = replace(PROFILE, model="gpt-6-sol", steer=True, tools_as_item=True, instructions_as_item=True)
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,), spare=True)
LONG = user_message("long: " + "a line of a file\n" * 2_000)
PARTLY: Item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "w"}]}
SCRIPT = """
[[scenario]]
match = ["long"]
[[scenario.step]]
think = "{words}"
[[scenario.step]]
say = "{words}"
{end}
[[scenario]]
match = ["edit"]
[[scenario.hunk]]
id = "one"
path = "a.py"
lines = '''
-a = 1
+a = 2 # {words}
'''
[[scenario.step]]
patch = ["one"]
[[scenario.step]]
say = "Done."

[[scenario]]
match = ["hello"]
[[scenario.step]]
say = "All is well."
"""


def script(end: str = "", **changes: Any) -> Script:
    return replace(parse(SCRIPT.replace("{words}", "word " * 300).replace("{end}", end)), **changes)


ENDLESS = "[[scenario.step]]\nstall = 600.0\n"
"""What stands behind the words of an answer that only the client ends, however slow it is."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may be slow."""
    monkeypatch.setattr("session.wire.link.connection.PATIENCE", 20.0)
    monkeypatch.setattr("session.wire.link.steering.PATIENCE", 20.0)


async def with_spare(connection: Connection) -> None:
    async with asyncio.timeout(10):
        while not connection.has_spare:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def linked(partner: Partner, profile: Any = STEERABLE) -> AsyncIterator[Connection]:
    connection = Connection(Endpoint(partner.url), profile, service=SOCKET)
    connection.start()
    await until(connection, LinkState.READY)
    await with_spare(connection)
    try:
        yield connection
    finally:
        await connection.close()


async def interrupted(
    connection: Connection,
    items: list[Item],
    at: type[WireEvent],
    stop: Callable[[], object] | None = None,
) -> None:
    """Ask, and redirect at the first event of this kind."""
    async for event in connection.respond(items):
        if isinstance(event, at):
            (stop or connection.redirect)()


def steers(events: list[WireEvent]) -> bool:
    return isinstance(events[0], Steered)


@pytest.mark.parametrize("at", [ReasoningDelta, TextDelta])
async def test_a_prompt_in_the_middle_of_an_answer_goes_out_alone_on_the_same_socket(
    at: type[WireEvent],
) -> None:
    async with Partner(rate=2_000, scripts=script()) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], at)
        sockets, dials = partner.connections, connection.dials
        items = [LONG, PARTLY, user_message("hello")]
        events = await ask(connection, items)
        assert steers(events) and said(events) == "All is well."
        assert connection.last_request_bytes < 600
        assert (partner.connections, connection.dials, connection.promotions) == (sockets, dials, 0)
        assert partner.cut == 0
        told = partner.requests[-1]
        assert [item["role"] for item in told.items] == ["developer", "user"]
        # The turn after it continues the chain.
        items += [*output(events), user_message("hello")]
        assert said(await ask(connection, items)) == "All is well."
        assert connection.last_request_bytes < 700
        assert partner.requests[-1].previous_response_id == events[-1].response_id  # type: ignore[union-attr]


async def test_an_answer_that_ends_with_a_call_gets_its_output_with_the_prompt() -> None:
    async with Partner(rate=2_000, scripts=script()) as partner, linked(partner) as connection:
        items = [user_message("edit " + "x" * 9_000)]
        await interrupted(connection, items, ToolInputDelta)
        events = await ask(connection, [*items, user_message("hello")])
        assert steers(events) and said(events) == "All is well."
        request = partner.requests[-1]
        assert [item.get("role") for item in request.items] == [None, "developer", "user"]
        assert request.items[0]["output"] == UNREAD and request.size < 600
        assert partner.connections == 2 and partner.cut == 0


def test_outputs_that_the_conversation_has_are_the_ones_that_are_told() -> None:
    call: Item = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "x"}
    done = tool_output("c1", "h1 landed")
    said = words([LONG], [LONG, call, done, user_message("hello")])
    assert said is not None and list(said.messages)[1:] == [user_message("hello")]
    stub = {"type": "custom_tool_call_output", "call_id": "c1"}
    other = {"type": "function_call", "call_id": "c2", "name": "read"}
    assert said.owed([stub, other, {"type": "mcp_approval_response", "approval_request_id": "a"}]) == [
        done,
        tool_output("c2", UNREAD, custom=False),
    ]
    assert words([LONG], [LONG, call, done]) is None and words([LONG], [user_message("hello")]) is None


async def test_a_prompt_that_crosses_the_end_continues_the_answer_by_a_usual_request() -> None:
    for at in (TextDelta, ToolInputDelta):
        late = script(steer="late")
        async with Partner(rate=5_000, scripts=late) as partner, linked(partner) as connection:
            first = LONG if at is TextDelta else user_message("edit " + "x" * 9_000)
            await interrupted(connection, [first], at)
            events = await ask(connection, [first, user_message("hello")])
            assert steers(events) and said(events) == "All is well."
            assert partner.connections == 2 and partner.cut == 0
            assert partner.requests[-1].previous_response_id and partner.requests[-1].size < 900


@pytest.mark.parametrize("how", ["unsupported", "unknown"])
async def test_a_server_that_takes_no_steer_is_asked_anew_and_never_steered_again(how: str) -> None:
    async with (
        Partner(rate=5_000, scripts=script(ENDLESS, steer=how)) as partner,
        linked(partner) as connection,
    ):
        await interrupted(connection, [LONG], TextDelta)
        items = [LONG, PARTLY, user_message("hello")]
        events = await ask(connection, items)
        assert not steers(events) and said(events) == "All is well."
        asked = [request for request in partner.requests if request.generate]
        assert connection.promotions == 1 and asked[-1].size > 30_000
        assert connection.left_out == ("a prompt in the middle of an answer",)
        await with_spare(connection)
        await interrupted(connection, [LONG], TextDelta)
        assert connection.promotions == 2


async def test_an_interrupt_ends_an_answer_that_waits_for_its_prompt() -> None:
    async with Partner(rate=5_000, scripts=script(ENDLESS)) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], TextDelta)
        assert connection.promotions == 0
        connection.drop()
        assert connection.promotions == 1
        assert said(await ask(connection, [LONG, PARTLY, user_message("hello")])) == "All is well."


async def test_an_answer_whose_prompt_does_not_come_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session.wire.link.connection.PATIENCE", 0.1)
    async with Partner(rate=5_000, scripts=script(ENDLESS)) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], TextDelta)
        async with asyncio.timeout(10):
            while not partner.cut:
                await asyncio.sleep(0.01)
        assert connection.promotions == 1


async def test_an_item_that_takes_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session.wire.link.steering.PATIENCE", 0.1)
    async with Partner(rate=100, scripts=script()) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], ReasoningDelta)
        events = await ask(connection, [LONG, user_message("hello")])
        assert not steers(events) and said(events) == "All is well."
        assert connection.promotions == 1 and connection.left_out == ()


async def test_a_second_redirect_before_the_first_took_effect_asks_anew() -> None:
    async with Partner(rate=5_000, scripts=script(ENDLESS)) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], TextDelta)
        items = [LONG, PARTLY, user_message("long too")]
        asking = asyncio.create_task(ask(connection, items))
        await asyncio.sleep(0)
        while not connection.last_request_bytes or connection.last_request_bytes > 9_000:
            await asyncio.sleep(0)
        connection.redirect()
        assert await asking == []
        events = await ask(connection, [*items, user_message("hello")])
        assert not steers(events) and said(events) == "All is well."
        assert connection.promotions == 1


async def test_a_steered_answer_can_be_steered_again() -> None:
    async with Partner(rate=2_000, scripts=script()) as partner, linked(partner) as connection:
        items = [LONG]
        await interrupted(connection, items, TextDelta)
        items += [PARTLY, user_message("long too")]
        await interrupted(connection, items, TextDelta)
        items += [PARTLY, user_message("hello")]
        assert said(await ask(connection, items)) == "All is well."
        assert partner.connections == 2 and connection.last_request_bytes < 600


async def test_a_request_that_is_another_conversation_or_model_is_asked_by_itself() -> None:
    async with Partner(rate=5_000, scripts=script(ENDLESS)) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], TextDelta)
        assert not steers(await ask(connection, [user_message("hello")]))
        await with_spare(connection)
        await interrupted(connection, [LONG], TextDelta)
        connection.request = replace(STEERABLE, effort="high")
        events = await ask(connection, [LONG, PARTLY, user_message("hello")])
        assert not steers(events) and said(events) == "All is well."
        assert connection.promotions == 2


async def test_only_models_that_are_said_to_take_it_are_steered() -> None:
    async with (
        Partner(rate=5_000, scripts=script(ENDLESS)) as partner,
        linked(partner, PROFILE) as connection,
    ):
        await interrupted(connection, [LONG], TextDelta)
        assert connection.promotions == 1


async def test_a_lost_connection_is_asked_anew() -> None:
    async with Partner(rate=5_000, scripts=script(ENDLESS)) as partner, linked(partner) as connection:
        await interrupted(connection, [LONG], TextDelta)
        asking = asyncio.create_task(ask(connection, [LONG, PARTLY, user_message("hello")]))
        await partner.drop_clients()
        events = await asking
        assert isinstance(events[-1], Finished) and said(events) == "All is well."
