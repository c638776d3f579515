"""Requests go out compressed over WebSocket where the server agrees, over HTTP where its row says so."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Service
from session.wire.protocol.events import Finished
from session.wire.protocol.items import user_message
from session.wire.transport.service import Route, Transport
from tests.session.talking import PLAIN, Listening, opening
from tests.session.wire.link.test_request_bytes import FIRST, SECOND, ready

ON_THE_WIRE = 150
"""Most bytes of a following turn's request on the wire, its prompt and the frame's head included."""
STREAM = b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
SAY = '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "Fine.\\n"\n'


class CountingRelay:
    """Passes connections on to a server, and counts the bytes that clients send on each, in the order they
    came in: a spare one may come at any time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.sent: list[int] = []

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.sent)
        self.sent.append(0)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(self._pump(to_reader, writer))
        await self._pump(reader, to_writer, number)
        back.cancel()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int | None = None
    ) -> None:
        while data := await reader.read(65_536):
            if number is not None:
                self.sent[number] += len(data)
            writer.write(data)
        writer.close()


async def test_a_following_turn_is_a_packet_where_the_server_deflates(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    script = parse("deflate = true\n" + PLAIN)
    async with Partner(rate=float("inf"), scripts=script) as partner:
        relay = CountingRelay(partner.port)
        async with relay.serve() as url:
            session = Session(opening(tmp_path / "p", url))
            at = Listening(session, partner, tmp_path / "p")
            following = asyncio.create_task(at.follow())
            await asyncio.sleep(0)
            await session.open()
            await ready(session)
            session.submit(FIRST)
            await at.ended("t1")
            before = relay.sent[0]
            session.submit(SECOND)
            await at.ended("t2")
            taken = relay.sent[0] - before
            assert partner.requests[-1].size > 2 * taken, "the text is longer than what was sent"
            assert taken <= ON_THE_WIRE
            await session.close()
            await following


@pytest.mark.parametrize("compress", [True, False])
async def test_a_request_over_http_is_compressed_where_the_row_says_so(compress: bool) -> None:
    async with Partner(rate=float("inf"), scripts=parse(SAY)) as partner:
        service = Service(routes=(Route(Transport.SSE, "chat"),), compress=compress)
        connection = Connection(Endpoint(partner.url), RequestProfile("m"), service=service)
        for text, packed in (("word " * 4_000, compress), ("short", False)):
            events = [event async for event in connection.respond([user_message(text)])]
            assert isinstance(events[-1], Finished)
            assert (partner.headers[-1].get("content-encoding") == "gzip") is packed
            assert text in str(partner.requests[-1].items)
            if packed:
                assert int(partner.headers[-1]["content-length"]) < len(text) / 10
        await connection.close()


LONG = "This model's maximum context length is 8192 tokens."


@pytest.mark.parametrize(
    ("status", "other", "message", "sent"),
    [
        (415, 0, "Cannot read the body.", ["gzip", "plain", "plain"]),
        (400, 0, "Cannot read the body.", ["gzip", "plain", "plain"]),
        # Where the body was not at fault, the next request is compressed again.
        (400, 400, "Cannot read the body.", ["gzip", "plain", "gzip", "plain"]),
        # A server that knows how long it is has read it: all of it does not go again.
        (400, 400, LONG, ["gzip", "gzip"]),
    ],
)
async def test_a_refused_compression_is_given_up_for_the_session(
    status: int, other: int, message: str, sent: list[str]
) -> None:
    """``other`` is what the request gets without compression, 0 for an answer."""
    encodings: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                if head.startswith("post"):
                    length = int(head.partition("content-length: ")[2].split("\r\n")[0])
                    await reader.readexactly(length)
                    encodings.append("gzip" if "content-encoding: gzip" in head else "plain")
                    refused = status if encodings[-1] == "gzip" else other
                    body = json.dumps({"error": {"message": message}}).encode() if refused else STREAM
                    kind = b"application/json" if refused else b"text/event-stream"
                    writer.write(b"HTTP/1.1 %d x\r\nContent-Type: %b\r\n" % (refused or 200, kind))
                    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                else:
                    writer.write(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    service = Service(routes=(Route(Transport.SSE, "chat"),), compress=True, spare=True)
    connection = Connection(endpoint, RequestProfile("m"), service=service)
    for _ in range(2):
        asking = connection.respond([user_message("word " * 4_000)])
        if other:
            with pytest.raises(LinkError, match="longer than" if message == LONG else message):
                _ = [event async for event in asking]
        else:
            assert isinstance([event async for event in asking][-1], Finished)
    assert encodings == sent
    connection.drop()
    await connection.close()
    server.close()
