"""What stands before a server lets no WebSocket through, and says so in no way that is documented."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, Service
from session.wire.link.retries import Backoff
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.hostile import pass_on
from tests.session.wire.link.test_connection import PROFILE, ask, said, script

ROUTES = Service(routes=(RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE))
ANSWERS = {
    "torn": b"HTTP/1.1 101 Switching Prot",
    "wrong": b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "upgraded to nothing": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
}


class Middlebox:
    """Passes plain requests on to a server, and the first upgrades; ``how`` is what it does with others."""

    def __init__(self, partner: Partner, how: str, lets: int) -> None:
        self.upgrades = 0
        """The upgrades that it did not pass on."""
        self._how = how
        self._lets = lets
        self._partner = partner
        self._clients: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
        upgrades = b"upgrade: websocket" in head.lower()
        if upgrades and not self._lets:
            self.upgrades += 1
            await self._upgrade(reader, writer)
        else:
            self._lets -= upgrades
            self._clients.append(writer)
            behind, ahead = await asyncio.open_connection("127.0.0.1", self._partner.port)
            ahead.write(head)
            for pair in ((reader, ahead), (behind, writer)):
                task = asyncio.create_task(pass_on(*pair))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _upgrade(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWERS.get(self._how, b""))
        if self._how == "silent":
            await reader.read()
        elif self._how == "reset":
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Cut all connections that it has passed on."""
        for client in self._clients:
            client.transport.abort()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def behind(how: str, lets: int = 0) -> AsyncIterator[tuple[Connection, Middlebox]]:
    async with Partner(rate=20_000, scripts=script()) as partner:
        box = Middlebox(partner, how, lets)
        server = await asyncio.start_server(box.handle, "127.0.0.1", 0)
        endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        backoff = Backoff(first=0.01, longest=0.01)
        # Long enough for the connections that are answered, on a busy machine too.
        seconds = 1.0 if how == "silent" else 10.0
        connection = Connection(endpoint, PROFILE, service=ROUTES, open_timeout=seconds, backoff=backoff)
        connection.start()
        try:
            yield connection, box
        finally:
            await connection.close()
            server.close()
            await box.close()


@pytest.mark.parametrize("how", ["closed", "reset", "silent", *ANSWERS])
async def test_an_upgrade_without_an_answer_falls_back_to_http(how: str) -> None:
    async with behind(how) as (connection, box):
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert (connection.way, box.upgrades) == ("Responses over HTTP", 1)


async def test_a_network_that_lets_no_websocket_through_any_more_falls_back_to_http() -> None:
    async with behind("closed", lets=1) as (connection, box):
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert connection.way == "Responses over WebSocket"
        box.cut()
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert (connection.way, box.upgrades) == ("Responses over HTTP", 3)
