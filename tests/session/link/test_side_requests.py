"""Requests beside the running answer, over real sockets: on a lane, on a connection of their own, in turn."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from session.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.link.state import Backoff, LinkState
from session.partner.server.server import Partner
from session.protocol.events import Created, Finished, TextDelta, WireEvent
from session.protocol.items import user_message
from session.protocol.request import RequestProfile
from session.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.link.test_connection import ask, linked, output, said, script, until
from tests.session.transport.test_http import CHAT

LANES = Service(routes=(RESPONSES_OVER_WEBSOCKET,), warm_up=False, lanes=16)
SUMMARY = RequestProfile("spark-partner", "Sum up what was said.")
HELLO = [user_message("hello")]
LONG = [user_message("long")]
QUICK = Retries(backoff=Backoff(first=0.01))


async def beside(connection: Connection, words: str = "hello") -> list[WireEvent]:
    async with asyncio.timeout(20):
        return [event async for event in connection.aside(SUMMARY, [user_message(words)])]


async def begun(connection: Connection, answer: list[WireEvent], words: str = "long") -> asyncio.Task[None]:
    """An answer that has said something and goes on."""

    async def go() -> None:
        async for event in connection.respond([user_message(words)]):
            answer.append(event)

    task = asyncio.create_task(go())
    async with asyncio.timeout(10):
        while not said(answer):
            await asyncio.sleep(0.005)
    return task


async def test_on_a_lane_it_shares_the_socket_with_the_answer() -> None:
    async with (
        Partner(rate=3000, scripts=script()) as partner,
        linked(partner, service=LANES) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        task = await begun(connection, answer)
        sides = await asyncio.gather(beside(connection), beside(connection))
        assert [said(events) for events in sides] == ["All is well."] * 2
        assert not task.done(), "the answer was to go on beside it"
        await task
        assert said(answer) == "word " * 3000
        assert isinstance(answer[-1], Finished)
        names = [request.stream_id for request in partner.requests]
        assert names[0] is None and len(set(names)) == 3
        assert (partner.connections, partner.cut) == (1, 0)


async def test_an_answer_is_not_held_up_by_one_beside_it_and_continues_from_its_id() -> None:
    async with (
        Partner(scripts=script("[[scenario.step]]\nstall = 60")) as partner,
        linked(partner, service=LANES) as connection,
    ):
        await until(connection, LinkState.READY)
        stalled = asyncio.create_task(beside(connection, "fault"))
        while len(partner.requests) < 1:
            await asyncio.sleep(0.005)
        items = list(HELLO)
        items += output(await ask(connection, items))
        assert said(await ask(connection, [*items, user_message("hello")])) == "All is well."
        assert partner.requests[-1].previous_response_id is not None
        assert not stalled.done()
        stalled.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await stalled
        assert said(await ask(connection, HELLO)) == "All is well."
        assert (partner.connections, partner.cut) == (1, 0)


async def test_given_up_it_leaves_the_socket_and_the_answer_alone() -> None:
    async with (
        Partner(rate=20_000, scripts=script()) as partner,
        linked(partner, service=LANES) as connection,
    ):
        await until(connection, LinkState.READY)
        for _ in range(3):
            side = connection.aside(SUMMARY, LONG)
            async for event in side:
                if isinstance(event, TextDelta):
                    break
            await side.aclose()
            events = await ask(connection, LONG)
            assert said(events) == "word " * 3000
        assert said(await beside(connection)) == "All is well."
        assert (partner.connections, partner.cut) == (1, 0)
        # What nobody wanted was read to its end, and its name used again.
        names = {request.stream_id for request in partner.requests}
        assert len(names - {None}) <= 3


async def test_lost_with_the_interrupted_answer_it_is_asked_again() -> None:
    async with (
        Partner(rate=3000, scripts=script()) as partner,
        linked(partner, service=LANES, retries=QUICK) as connection,
    ):
        await until(connection, LinkState.READY)
        answer: list[WireEvent] = []
        main = await begun(connection, answer)
        seen: list[WireEvent] = []
        async for event in connection.aside(SUMMARY, LONG):
            seen.append(event)
            if len(seen) == 20:
                connection.drop()
        await main
        last = max(number for number, event in enumerate(seen) if isinstance(event, Created))
        assert last > 19 and said(seen[last:]) == "word " * 3000
        assert isinstance(seen[-1], Finished) and seen[-1].status == "completed"


@pytest.mark.parametrize("route", [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT], ids=str)
async def test_without_lanes_it_has_a_connection_of_its_own(route: Route) -> None:
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


async def test_a_server_that_serves_one_at_a_time_is_left_to_the_answer() -> None:
    service = Service(routes=(CHAT,))
    async with (
        Partner(rate=6000, scripts=script()) as partner,
        linked(partner, service=service) as connection,
    ):
        answer: list[WireEvent] = []
        task = await begun(connection, answer)
        seen: list[WireEvent] = []

        async def side() -> None:
            async for event in connection.aside(SUMMARY, LONG):
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


async def test_a_server_that_refuses_the_lane_is_asked_on_another_connection() -> None:
    connections = 0

    async def handle(connection: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        async for frame in connection:
            asked: dict[str, Any] = json.loads(frame)
            if "stream_id" in asked:
                problem = {"code": "unknown_parameter", "message": "Unknown parameter: 'stream_id'."}
                event = {"type": "error", "status": 400, "error": problem}
                await connection.send(json.dumps({**event, "stream_id": asked["stream_id"]}))
                continue
            await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}))
            await connection.send(json.dumps({"type": "response.completed", "response": {"id": "r"}}))

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        connection = Connection(Endpoint(f"http://127.0.0.1:{port}/v1"), SUMMARY, service=LANES)
        connection.start()
        await until(connection, LinkState.READY)
        assert said(await beside(connection)) == "Hi"
        assert said(await ask(connection, HELLO)) == "Hi"
        assert connections == 2
        await connection.close()


async def test_what_cannot_pass_is_raised_and_close_ends_the_rest() -> None:
    head = 'refuse_models = ["other"]\n'
    async with (
        Partner(rate=3000, scripts=script(head=head)) as partner,
        linked(partner, service=LANES) as connection,
    ):
        await until(connection, LinkState.READY)
        with pytest.raises(LinkError) as caught:
            _ = [event async for event in connection.aside(RequestProfile("other"), HELLO)]
        assert caught.value.kind == "model"
        seen: list[WireEvent] = []
        async for event in connection.aside(SUMMARY, LONG):
            seen.append(event)
            if len(seen) == 20:
                closing = asyncio.create_task(connection.close())
        await closing
        assert not isinstance(seen[-1], Finished)
        with pytest.raises(RuntimeError):
            connection.aside(SUMMARY, LONG)
