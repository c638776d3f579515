"""Servers that send little and mean much: packed data, pings without end, lines without text."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from session.wire.protocol.frames import EventStream, EventTooLarge
from session.wire.transport import websocket
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError
from session.wire.transport.http import HttpLink
from session.wire.transport.websocket import MAX_FRAME_BYTES, WebSocketLink

PIECES = 24
LINE = b":" + b"x" * 4095 + b"\n"


def packed(text: bytes, times: int, wbits: int) -> bytes:
    """``text`` so many times, compressed."""
    packer = zlib.compressobj(9, wbits=wbits)
    return b"".join(packer.compress(text) for _ in range(times)) + packer.flush(zlib.Z_SYNC_FLUSH)


@asynccontextmanager
async def answering(body: bytes) -> AsyncIterator[HttpLink]:
    """A link to a server that answers with ``body``, a stream of events as gzip, and keeps the connection."""
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while (await reader.readuntil(b"\r\n\r\n")).startswith(b"HEAD"):
                writer.write(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n")
            writer.write(
                b"HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
            )
            writer.write(body)
            await ended.wait()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    link = await HttpLink.open(endpoint, "/responses", open_timeout=10)
    try:
        yield link
    finally:
        await link.close()
        ended.set()
        server.close()


@pytest.mark.parametrize("doing", ["receive", "drain"])
async def test_other_tasks_run_while_one_packet_unpacks_to_many_comments(
    doing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.wire.transport.http._DRAIN_SECONDS", 60.0)
    turns: list[int] = []
    turn = 0

    async def counted(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for chunk in chunks:
            turns.append(turn)
            yield chunk

    async with answering(packed(LINE * (1024 * 1024 // len(LINE)), PIECES, 31)) as link:
        await link.send("{}")
        assert link._chunks is not None
        link._chunks = counted(link._chunks)
        reading = asyncio.create_task(getattr(link, doing)())
        while len(turns) < PIECES:
            await asyncio.sleep(0)
            turn += 1
        assert len(set(turns)) == len(turns)  # no two pieces in one turn of the loop
        reading.cancel()


async def opened(server: object) -> WebSocketLink:
    port = next(iter(server.sockets)).getsockname()[1]  # type: ignore[attr-defined]
    return await WebSocketLink.open(Endpoint(f"http://127.0.0.1:{port}/v1"))


async def test_messages_that_unpack_a_thousandfold_end_the_connection() -> None:
    bomb = packed(b"a" * (MAX_FRAME_BYTES // 16), 15, -15).removesuffix(b"\0\0\xff\xff")

    async def handle(connection: ServerConnection) -> None:
        frame = b"\xc1\x7f" + len(bomb).to_bytes(8, "big") + bomb
        connection.transport.write(frame * 40)  # half a megabyte; 600 MB when unpacked
        await connection.wait_closed()

    async with serve(handle, "127.0.0.1", 0) as server:
        link = await opened(server)
        async with asyncio.timeout(20):
            await link.wait_closed()
        kept = await link.receive()
        most = websocket.MOST_BYTES
        assert most < sum(map(len, kept)) < most + 3 * MAX_FRAME_BYTES
        with pytest.raises(LinkError, match=r"more than [\d,]+ bytes wait") as caught:
            await link.receive()
        assert caught.value.kind == "closed"
        await link.close()


async def test_answers_to_pings_that_nobody_reads_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "MOST_BYTES", 100_000)
    pings = (b"\x89\x7d" + b"p" * 125) * 500

    async def handle(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        with suppress(ConnectionClosed, ConnectionError):
            while not connection.transport.is_closing():
                connection.transport.write(pings)
                await connection.drain()
                await asyncio.sleep(0)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        async with serve(handle, sock=listening) as server:
            link = await opened(server)
            async with asyncio.timeout(20):
                await link.wait_closed()
            with pytest.raises(LinkError, match="bytes wait"):
                await link.receive()
            await link.close()


@pytest.mark.parametrize("line", [b"data:\n", b"data: \n", b"data:x\n"])
def test_lines_without_text_hit_the_size_limit_too(line: bytes) -> None:
    stream = EventStream(max_bytes=100_000)
    with pytest.raises(EventTooLarge):
        for _ in range(100):
            stream.feed(line * 100)
