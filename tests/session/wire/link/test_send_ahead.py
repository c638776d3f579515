"""The conversation goes ahead of a prompt that is being typed, where the connection does not have it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, Service
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished, TextDelta
from session.wire.protocol.items import Item, user_message
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.test_connection import PROFILE, ask, output, said, script, until

LONG = "a line of a file\n" * 2_000
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,), spare=True)
PARTLY: Item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "w"}]}


async def until_read(partner: Partner, requests: int) -> None:
    """Wait for the request that goes ahead, and until the connection knows that it was read."""
    async with asyncio.timeout(10):
        while len(partner.requests) < requests:
            await asyncio.sleep(0.01)


async def settled(connection: Connection) -> None:
    async with asyncio.timeout(10):
        while not connection.has_spare:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def started(partner: Partner) -> AsyncIterator[Connection]:
    connection = Connection(Endpoint(partner.url), PROFILE, service=SOCKET)
    connection.start()
    await until(connection, LinkState.READY)
    await settled(connection)
    try:
        yield connection
    finally:
        await connection.close()


async def test_after_an_interrupt_only_what_is_typed_is_left_to_send() -> None:
    async with Partner(rate=2_000, scripts=script()) as partner, started(partner) as connection:
        items = [user_message("long, please:\n" + LONG)]
        async for event in connection.respond(items):
            if isinstance(event, TextDelta):
                connection.drop()
        await settled(connection)
        before = len(partner.requests)
        for _ in range(3):  # each key that is typed
            connection.wake()
        await until_read(partner, before + 1)
        items += [PARTLY, user_message("hello")]
        assert said(await ask(connection, items)) == "All is well."
        ahead, asked = list(partner.requests)[before:]
        assert not ahead.generate and ahead.size > len(LONG)
        assert asked.generate and asked.previous_response_id and asked.size < 1_000
        assert "".join(str(item) for item in ahead.items).count("a line of a file") == 2_000


async def test_typing_under_an_answer_sends_its_conversation_to_the_spare() -> None:
    async with Partner(rate=500, scripts=script()) as partner, started(partner) as connection:
        items = [user_message("long, please:\n" + LONG)]
        sockets = partner.connections
        async for event in connection.respond(items):
            if isinstance(event, TextDelta) and partner.requests[-1].generate:
                before = len(partner.requests)
                connection.wake()
                await until_read(partner, before + 1)
                connection.drop()
        assert partner.connections == sockets
        items += [PARTLY, user_message("hello")]
        assert said(await ask(connection, items)) == "All is well."
        assert connection.last_request_bytes < 1_000
        asked = [request for request in partner.requests if request.generate]
        assert asked[-1].previous_response_id


async def test_nothing_goes_ahead_of_a_following_turn_or_of_a_short_conversation() -> None:
    async with Partner(rate=20_000, scripts=script()) as partner, started(partner) as connection:
        for text in (LONG, ""):
            items = [user_message("hello " + text)]
            items += output(await ask(connection, items))
            before = len(partner.requests)
            connection.wake()
            if not text:  # a connection that lacks the few words of this one
                await partner.drop_clients()
                await until(connection, LinkState.READY)
                await settled(connection)
                before = len(partner.requests)
                connection.wake()
            assert said(await ask(connection, [*items, user_message("hello")])) == "All is well."
            assert len(partner.requests) == before + 1


class Reader:
    """A server that takes a while to read what goes ahead, refuses it, answers it, or closes."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.bodies: list[dict[str, Any]] = []
        self.goes_on = asyncio.Event()

    async def handle(self, connection: ServerConnection) -> None:
        async for frame in connection:
            body = json.loads(frame)
            self.bodies.append(body)
            number = len(self.bodies)
            ahead = body.get("generate") is False and "a line of a file" in str(frame)
            if ahead and self.how == "slow":
                await self.goes_on.wait()
            if ahead and self.how == "refuses":
                error = {"code": "server_error", "message": "No."}
                await connection.send(json.dumps({"type": "error", "status": 500, "error": error}))
                continue
            if ahead and self.how == "closes":
                await connection.close()
                return
            if body.get("generate", True) or (ahead and self.how == "answers"):
                await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}))
            if "more" in str(body["input"][-1:]) and body.get("generate", True):
                continue  # an answer that never ends
            await connection.send(
                json.dumps({"type": "response.completed", "response": {"id": f"r{number}"}})
            )

    @asynccontextmanager
    async def interrupted(self) -> AsyncIterator[tuple[Connection, list[Item]]]:
        """A connection whose first answer was interrupted, with the conversation going ahead."""
        async with serve(self.handle, "127.0.0.1", 0, max_size=None) as server:
            url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1"
            connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
            connection.start()
            await until(connection, LinkState.READY)
            await settled(connection)
            items = [user_message("long: " + LONG), user_message("more " * 2_000)]
            async for event in connection.respond(items):
                if isinstance(event, TextDelta):
                    connection.drop()
            await settled(connection)
            before = len(self.bodies)
            connection.wake()
            async with asyncio.timeout(10):
                while len(self.bodies) == before:
                    await asyncio.sleep(0.01)
            yield connection, [*items, PARTLY, user_message("hello")]
            self.goes_on.set()
            await connection.close()


async def test_a_prompt_waits_until_the_server_has_read_what_went_ahead() -> None:
    reader = Reader("slow")
    async with reader.interrupted() as (connection, items):
        asking = asyncio.create_task(ask(connection, items))
        await asyncio.sleep(0.05)
        assert not asking.done() and reader.bodies[-1]["generate"] is False
        reader.goes_on.set()
        assert isinstance((await asking)[-1], Finished)
        assert reader.bodies[-1]["previous_response_id"] == f"r{len(reader.bodies) - 1}"
        assert len(str(reader.bodies[-1]["input"])) < 500


async def test_an_interrupt_ends_that_wait() -> None:
    async with Reader("slow").interrupted() as (connection, items):
        asking = asyncio.create_task(ask(connection, items))
        await asyncio.sleep(0.05)
        connection.drop()
        async with asyncio.timeout(5):
            assert await asking == []


async def test_a_server_that_does_not_read_ahead_gets_everything_with_the_prompt() -> None:
    for how in ("refuses", "answers", "closes"):
        reader = Reader(how)
        async with reader.interrupted() as (connection, items):
            events = await ask(connection, items)
            assert isinstance(events[-1], Finished)
            assert "previous_response_id" not in reader.bodies[-1] or len(reader.bodies[-1]["input"]) == 4
