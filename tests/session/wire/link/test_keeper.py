"""Tests the keeper's connections over real sockets: the spare, rotation, idle rest and sleep."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, Service
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished, TextDelta
from session.wire.protocol.items import user_message
from tests.session.wire.link.test_connection import PROFILE, ask, failing, output, said, script, until

SPARE = Service(spare=True)


@contextlib.asynccontextmanager
async def kept(partner: Partner, service: Service = SPARE, **options: Any) -> AsyncIterator[Connection]:
    connection = Connection(Endpoint(partner.url), PROFILE, service=service, **options)
    connection.start()
    try:
        yield connection
    finally:
        await connection.close()


async def becomes(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def interrupted(connection: Connection) -> None:
    """Start an answer and drop it in the middle."""
    async for event in connection.respond([user_message("long")]):
        if isinstance(event, TextDelta):
            connection.drop()


async def test_a_redirect_uses_the_spare_without_a_handshake() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        assert (connection.dials, connection.warm_ups) == (2, 2)
        spare = connection._keeper.spare
        states = connection.states()
        assert (await anext(states)).state is LinkState.READY
        async for event in connection.respond([user_message("long")]):
            if isinstance(event, TextDelta):
                connection.drop()
                assert connection.promotions == 1
                assert connection.state is LinkState.READY
        assert connection._keeper.active is spare
        events = connection.respond([user_message("hello")])
        await anext(events)
        assert partner.requests[-1].previous_response_id is not None, "not warm"
        assert connection._keeper.active is spare, "the request waited for a dial"
        await events.aclose()


async def test_a_new_spare_is_opened_after_a_promotion() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner) as connection:
        for round_number in range(1, 4):
            await becomes(lambda: connection.has_spare)
            await interrupted(connection)
            assert connection.promotions == round_number
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_two_interrupts_before_a_spare_is_ready() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        await interrupted(connection)
        await interrupted(connection)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_connection_closed_between_turns_is_replaced_silently() -> None:
    async with Partner(scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        states = connection.states()
        await anext(states)
        (first, _) = sorted(partner._clients, key=lambda client: client.connection.id.int)
        await first.connection.close(1001)
        await becomes(lambda: connection.dials == 3 and connection.has_spare)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert connection.state is LinkState.READY


async def test_no_spare_is_opened_unless_allowed() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner, Service()) as connection:
        await until(connection, LinkState.READY)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        await asyncio.sleep(0.1)
        assert (partner.connections, connection.has_spare) == (1, False)


async def test_connections_are_replaced_before_they_expire_and_never_during_an_answer() -> None:
    service = Service(spare=True, lifetime_seconds=1.0)
    async with Partner(rate=3000, scripts=script()) as partner, kept(partner, service) as connection:
        await until(connection, LinkState.READY)
        states = connection.states()
        await anext(states)
        events = await ask(connection, [user_message("long")])  # longer than a lifetime
        assert isinstance(events[-1], Finished)
        assert not any(
            request.previous_response_id is None for request in partner.requests if request.generate
        )
        connection._keeper._life.used -= 10  # the idle time after a turn
        old = connection._keeper.active
        await becomes(lambda: connection._keeper.active not in (old, None))
        assert connection.state is LinkState.READY
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_an_idle_link_rests_and_wakes() -> None:
    service = Service(spare=True, idle_seconds=0.3)
    async with Partner(scripts=script()) as partner, kept(partner, service) as connection:
        await until(connection, LinkState.IDLE)
        await becomes(lambda: not partner._clients)
        connection.wake()
        await until(connection, LinkState.READY)
        await until(connection, LinkState.IDLE)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_dead_connections_are_replaced_after_sleep_before_a_request() -> None:
    slept = 0.0
    async with (
        Partner(scripts=script()) as partner,
        kept(partner, slept=lambda: slept) as connection,
    ):
        await becomes(lambda: connection.has_spare)
        items = [user_message("hello")]
        items += output(await ask(connection, items))
        slept = 3600.0
        items.append(user_message("hello"))
        assert said(await ask(connection, items)) == "All is well."
        assert partner.requests[-1].previous_response_id is None
        assert connection.dials >= 3


async def test_a_spare_that_cannot_be_opened_does_no_harm() -> None:
    partner = Partner(scripts=script())
    await partner.serve()
    connection = Connection(Endpoint(partner.url), PROFILE, service=SPARE)
    connection.start()
    await becomes(lambda: connection.has_spare)
    assert partner._server is not None
    partner._server.close(close_connections=False)
    await asyncio.sleep(0.05)
    await interrupted(connection)
    await becomes(lambda: connection.dials == 3)
    assert said(await ask(connection, [user_message("hello")])) == "All is well."
    assert (connection.state, connection.has_spare) == (LinkState.READY, False)
    await connection.close()
    await partner.close()


async def test_a_redirect_during_an_outage_is_sent_after_reconnecting() -> None:
    partner = Partner(scripts=script())
    await partner.serve()
    port = partner.port
    async with kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        await partner.close()
        asked = asyncio.create_task(ask(connection, [user_message("hello")]))
        await asyncio.sleep(0.3)
        again = Partner(scripts=script())
        await again.serve(port)
        assert said(await asked) == "All is well."
        await again.close()
        await partner.close()
        assert (await failing(connection, "hello")).kind == "unreachable"
