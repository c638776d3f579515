"""Over HTTP the Messages dialect fills the server's cache before the first prompt."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import LinkError
from session.wire.link.state import LinkState
from session.wire.protocol.items import user_message
from session.wire.transport.service import Route, Transport
from tests.session.wire.link.test_connection import PROFILE, ask, failing, said, script, until
from tests.session.wire.transport.test_http import over

MESSAGES, CHAT = Route(Transport.SSE, "messages"), Route(Transport.SSE, "chat")


async def test_instructions_and_tools_are_cached_before_the_first_prompt() -> None:
    async with Partner(scripts=script()) as partner, over(partner, MESSAGES, spare=True) as connection:
        await until(connection, LinkState.READY)
        while not connection.has_spare:
            await asyncio.sleep(0.01)
        warm_up = partner.requests[0]
        assert not warm_up.generate and warm_up.body["max_tokens"] == 0 and "stream" not in warm_up.body
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        asked = partner.requests[-1].body
        assert (asked["system"], asked["model"]) == (warm_up.body["system"], warm_up.body["model"])
        assert asked["system"][-1]["cache_control"] == {"type": "ephemeral"}
        assert [request.generate for request in partner.requests] == [False, True], "the spare reads it"
        assert partner.plain_connections == 2, "the prompt goes out on the connection of the warm-up"


async def test_a_thinking_budget_is_left_out_of_the_warm_up() -> None:
    async with Partner(scripts=script()) as partner, over(partner, MESSAGES) as connection:
        connection.request = replace(PROFILE, effort="high")
        await until(connection, LinkState.READY)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert "thinking" not in partner.requests[0].body
        assert partner.requests[1].body["thinking"]["type"] == "enabled"


@pytest.mark.parametrize("route", [MESSAGES, CHAT], ids=str)
async def test_a_server_that_knows_no_such_warm_up_is_asked_once(route: Route) -> None:
    playing = replace(script(), warm_up="unsupported")
    async with Partner(scripts=playing) as partner, over(partner, route, spare=True) as connection:
        await until(connection, LinkState.READY)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        warm_ups = [request for request in partner.requests if not request.generate]
        assert len(warm_ups) == (route is MESSAGES)


async def test_a_refused_model_is_told_before_the_first_prompt() -> None:
    playing = replace(script(), refuse_models=(PROFILE.model,))
    async with Partner(scripts=playing) as partner, over(partner, MESSAGES) as connection:
        await until(connection, LinkState.FAILED)
        problem = await failing(connection, "hello")
        assert isinstance(problem, LinkError) and problem.kind == "model"
