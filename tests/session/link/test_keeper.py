"""The lines behind the answers, over real sockets: the spare, rotation, rest, sleep."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from session.link.connection import Connection, Endpoint, Service
from session.link.state import LinkState
from session.partner.server.server import Partner
from session.protocol.events import Finished, TextDelta
from session.protocol.items import user_message
from tests.session.link.test_connection import PROFILE, ask, failing, output, said, script, until

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
    """An answer that is dropped in the middle."""
    async for event in connection.respond([user_message("long")]):
        if isinstance(event, TextDelta):
            connection.drop()


async def test_a_redirect_goes_out_on_the_spare_without_a_handshake() -> None:
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


async def test_behind_a_promoted_spare_another_is_opened() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner) as connection:
        for round_number in range(1, 4):
            await becomes(lambda: connection.has_spare)
            await interrupted(connection)
            assert connection.promotions == round_number
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_twice_interrupted_faster_than_a_spare_comes() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        await interrupted(connection)
        await interrupted(connection)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_server_that_closes_the_active_line_between_turns_is_not_noticed() -> None:
    async with Partner(scripts=script()) as partner, kept(partner) as connection:
        await becomes(lambda: connection.has_spare)
        states = connection.states()
        await anext(states)
        (first, _) = sorted(partner._clients, key=lambda client: client.connection.id.int)
        await first.connection.close(1001)
        await becomes(lambda: connection.dials == 3 and connection.has_spare)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert connection.state is LinkState.READY


async def test_without_leave_there_is_no_spare() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, kept(partner, Service()) as connection:
        await until(connection, LinkState.READY)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        await asyncio.sleep(0.1)
        assert (partner.connections, connection.has_spare) == (1, False)


async def test_lines_are_replaced_before_they_are_too_old_and_never_under_an_answer() -> None:
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
        connection._keeper._life.used -= 10  # the quiet after a turn
        old = connection._keeper.active
        await becomes(lambda: connection._keeper.active not in (old, None))
        assert connection.state is LinkState.READY
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_link_nobody_uses_rests_and_wakes() -> None:
    service = Service(spare=True, idle_seconds=0.3)
    async with Partner(scripts=script()) as partner, kept(partner, service) as connection:
        await until(connection, LinkState.IDLE)
        await becomes(lambda: not partner._clients)
        connection.wake()
        await until(connection, LinkState.READY)
        await until(connection, LinkState.IDLE)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_after_sleep_dead_lines_are_replaced_before_anyone_asks_on_them() -> None:
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


async def test_a_spare_that_cannot_be_had_is_missed_by_nobody() -> None:
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


async def test_a_redirect_while_the_connection_is_down_goes_out_when_it_is_back() -> None:
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
