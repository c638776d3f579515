"""The sockets below the HTTP client: what comes is read whole, in order, and an end is an end."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpcore2
import pytest

from session.wire.transport.connect import connect_socket
from session.wire.transport.http_stream import SocketBackend
from tests.session.wire.transport.addresses import NAME, resolve_to

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def connected(serve: Serve) -> AsyncIterator[httpcore2.AsyncNetworkStream]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    stream = await SocketBackend().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1], timeout=5)
    try:
        yield stream
    finally:
        await stream.aclose()
        server.close()


async def whole(stream: httpcore2.AsyncNetworkStream) -> bytes:
    read = b""
    while data := await stream.read(65_536):
        read += data
    return read


async def test_a_large_answer_arrives_whole_however_late_it_is_read() -> None:
    sent = bytes(range(256)) * 40_000  # ten times what may wait

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with connected(serve) as stream:
        first = await stream.read(65_536)
        await asyncio.sleep(0.05)
        assert first + await whole(stream) == sent
        assert await stream.read(1) == b"", "an end stays an end"
        assert stream.get_extra_info("is_readable")


async def test_a_large_request_waits_for_a_slow_server() -> None:
    got = asyncio.Event()
    size = 8_000_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await got.wait()
        assert len(await reader.readexactly(size)) == size
        writer.write(b"all")
        writer.close()

    async with connected(serve) as stream:
        writing = asyncio.create_task(stream.write(b"x" * size))
        await asyncio.sleep(0.05)
        assert not writing.done() and not stream.get_extra_info("is_readable")
        got.set()
        await writing
        assert await whole(stream) == b"all"


async def test_a_reset_is_an_error_for_who_reads_and_who_writes() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        writer.transport.abort()

    async with connected(serve) as stream:
        with pytest.raises(httpcore2.ReadError):
            await stream.read(1)
        with pytest.raises(httpcore2.WriteError):
            await stream.write(b"x")


async def test_a_server_without_tls_is_a_connect_error() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with connected(serve) as stream:
        with pytest.raises(httpcore2.ConnectError):
            await stream.start_tls(ssl.create_default_context(), "localhost", timeout=5)


async def test_an_address_that_does_not_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    full = socket.socket()  # its queue takes no second connection, as a host that drops packets
    full.bind(("127.0.0.2", 0))
    full.listen(0)
    port = full.getsockname()[1]
    blocked = [await connect_socket("127.0.0.2", port)]
    open_ = socket.create_server(("127.0.0.1", port))
    resolve_to(monkeypatch, "127.0.0.2", "127.0.0.1")
    async with asyncio.timeout(10):
        found = await connect_socket(NAME, port)
    assert found.getpeername() == ("127.0.0.1", port)
    for each in (found, full, open_, *blocked):
        each.close()
