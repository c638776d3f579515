"""Tests requests in parallel to the running answer over real sockets."""

from __future__ import annotations

import asyncio

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.parallel import MOST_AT_ONCE
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkState
from session.wire.protocol.events import Created, Finished, TextDelta, WireEvent
from session.wire.protocol.items import user_message
from session.wire.protocol.request import RequestProfile
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.wire.link.test_connection import ask, linked, said, script, until
from tests.session.wire.link.test_keeper import becomes
from tests.session.wire.transport.test_http import CHAT

SPARE = Service(routes=(RESPONSES_OVER_WEBSOCKET,), warm_up=False, spare=True)
ALONE = Service(routes=(RESPONSES_OVER_WEBSOCKET,), warm_up=False)
SUMMARY = RequestProfile("spark-partner", "Sum up what was said.")
HELLO = [user_message("hello")]
LONG = [user_message("long")]
QUICK = Retries(backoff=Backoff(first=0.01))


async def beside(connection: Connection, words: str = "hello") -> list[WireEvent]:
    async with asyncio.timeout(20):
        return [event async for event in connection.ask_in_parallel(SUMMARY, [user_message(words)])]


async def begun(connection: Connection, answer: list[WireEvent], words: str = "long") -> asyncio.Task[None]:
    """An answer that has started and is still running."""

    async def go() -> None:
        async for event in connection.respond([user_message(words)]):
            answer.append(event)

    task = asyncio.create_task(go())
    async with asyncio.timeout(10):
        while not said(answer):
            await asyncio.sleep(0.005)
    return task


async def test_parallel_requests_each_use_their_own_connection() -> None:
    async with (
        Partner(rate=1_000, scripts=script()) as partner,
        linked(partner, service=SPARE) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        task = await begun(connection, answer)
        sides = await asyncio.gather(*(beside(connection) for _ in range(3 * MOST_AT_ONCE)))
        assert [said(events) for events in sides] == ["All is well."] * 3 * MOST_AT_ONCE
        assert not task.done(), "the answer was to go on beside them"
        await task
        assert said(answer) == "word " * 3000
        assert isinstance(answer[-1], Finished)
        assert partner.cut == 0
        assert partner.connections <= MOST_AT_ONCE + 2, "connections are bounded, and used again"


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with (
        Partner(scripts=script()) as partner,
        linked(partner, service=ALONE, slept=lambda: 0.0) as connection,
    ):
        await until(connection, LinkState.READY)
        for _ in range(3):
            assert said(await beside(connection)) == "All is well."
        assert partner.connections == 2
        await partner.drop_clients()
        assert said(await beside(connection)) == "All is well."


async def test_a_kept_connection_is_not_reused_after_sleep() -> None:
    slept = 0.0
    async with (
        Partner(scripts=script()) as partner,
        linked(partner, service=ALONE, slept=lambda: slept) as connection,
    ):
        await until(connection, LinkState.READY)
        assert said(await beside(connection)) == "All is well."
        slept = 3600.0
        connection.wake()
        await until(connection, LinkState.READY)
        assert said(await beside(connection)) == "All is well."
        assert partner.connections == 4


async def test_parallel_requests_survive_an_interrupted_answer() -> None:
    async with (
        Partner(rate=3000, scripts=script()) as partner,
        linked(partner, service=SPARE, retries=QUICK) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        main = await begun(connection, answer)
        seen: list[WireEvent] = []
        async for event in connection.ask_in_parallel(SUMMARY, LONG):
            seen.append(event)
            if len(seen) == 20:
                connection.drop()
        await main
        assert sum(isinstance(event, Created) for event in seen) == 1, "it was asked again"
        assert said(seen) == "word " * 3000
        assert partner.cut == 1


async def test_a_cancelled_request_stops_the_server_and_keeps_the_answer() -> None:
    async with (
        Partner(rate=3000, scripts=script()) as partner,
        linked(partner, service=SPARE) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        main = await begun(connection, answer)
        side = connection.ask_in_parallel(SUMMARY, LONG)
        async for event in side:
            if isinstance(event, TextDelta):
                break
        await side.aclose()
        await becomes(lambda: partner.cut == 1)
        await main
        assert said(answer) == "word " * 3000


async def test_a_lost_request_is_retried() -> None:
    fault = '[[scenario.step]]\nsay = "one two"\n[[scenario.step]]\nclose = {}'
    async with (
        Partner(scripts=script(fault)) as partner,
        linked(partner, service=SPARE, retries=QUICK) as connection,
    ):
        await until(connection, LinkState.READY)
        seen = await beside(connection, "fault")
        last = max(number for number, event in enumerate(seen) if isinstance(event, Created))
        assert said(seen[:last]).startswith("one") and said(seen[last:]) == "All is well."


@pytest.mark.parametrize("route", [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT], ids=str)
async def test_a_parallel_request_has_its_own_connection_on_every_route(route: Route) -> None:
    service = Service(routes=(route,), spare=True, warm_up=False)
    async with (
        Partner(rate=3000, scripts=script()) as partner,
        linked(partner, service=service) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        task = await begun(connection, answer)
        active = connection._keeper.active
        assert said(await beside(connection)) == "All is well."
        assert connection._keeper.active is active and not task.done()
        await task
        assert said(answer) == "word " * 3000


async def test_a_server_with_one_slot_serves_the_answer_first() -> None:
    service = Service(routes=(CHAT,))
    async with (
        Partner(rate=6000, scripts=script()) as partner,
        linked(partner, service=service) as connection,
    ):
        answer: list[WireEvent] = []
        task = await begun(connection, answer)
        seen: list[WireEvent] = []

        async def side() -> None:
            async for event in connection.ask_in_parallel(SUMMARY, LONG):
                seen.append(event)

        aside = asyncio.create_task(side())
        await task
        assert not seen, "it did not wait"
        async with asyncio.timeout(20):
            while not said(seen):
                await asyncio.sleep(0.01)
            assert said(await ask(connection, HELLO)) == "All is well."
            assert not aside.done()
            assert partner.cut == 1, "it did not give way"
            await aside
        last = max(number for number, event in enumerate(seen) if isinstance(event, Created))
        assert said(seen[last:]) == "word " * 3000


async def test_a_lasting_error_is_raised_and_close_ends_the_others() -> None:
    head = 'refuse_models = ["other"]\n'
    async with (
        Partner(rate=3000, scripts=script(head=head)) as partner,
        linked(partner, service=SPARE) as connection,
    ):
        await until(connection, LinkState.READY)
        with pytest.raises(LinkError) as caught:
            _ = [event async for event in connection.ask_in_parallel(RequestProfile("other"), HELLO)]
        assert caught.value.kind == "model"
        seen: list[WireEvent] = []
        async for event in connection.ask_in_parallel(SUMMARY, LONG):
            seen.append(event)
            if len(seen) == 20:
                closing = asyncio.create_task(connection.close())
        await closing
        assert not isinstance(seen[-1], Finished)
        with pytest.raises(RuntimeError):
            connection.ask_in_parallel(SUMMARY, LONG)


async def test_before_any_answer_a_server_that_speaks_chat_alone_is_asked_that_way() -> None:
    head = '[handshake]\nstatus = 404\nbody = ""\n'
    scripts = script(head=f'dialects = ["chat"]\n{head}')
    service = Service(routes=(RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT), warm_up=False, spare=True)
    async with Partner(rate=1_000, scripts=scripts) as partner:
        connection = Connection(Endpoint(partner.url), SUMMARY, service=service)
        sides = await asyncio.gather(*(beside(connection) for _ in range(3)))
        assert [said(events) for events in sides] == ["All is well."] * 3
        await connection.close()
