"""Misbehaving servers and broken connections for the hostile tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class CuttingProxy:
    """A relay to a server. It cuts one answer after ``limit`` bytes and passes on all others."""

    def __init__(self, target: int) -> None:
        self.limit: int | None = None
        self.passed = 0
        """Number of answer bytes of all connections so far."""
        self._target = target
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> CuttingProxy:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(ConnectionError):
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._target)
            try:
                async with asyncio.TaskGroup() as group:
                    forth = group.create_task(pass_on(reader, up_writer))
                    await self._back(up_reader, writer)
                    forth.cancel()
            finally:
                up_writer.transport.abort()
                writer.transport.abort()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(4096):
                cut = self.limit is not None and self.passed + len(data) >= self.limit
                if self.limit is not None and cut:
                    data, self.limit = data[: self.limit - self.passed], None
                writer.write(data)
                await writer.drain()
                self.passed += len(data)
                if cut:
                    break
        await asyncio.sleep(0)


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy everything from ``reader``."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


@contextlib.asynccontextmanager
async def streaming(*chunks: bytes, hold: bool = False) -> AsyncIterator[str]:
    """An HTTP server that accepts any request and answers a POST with these event-stream bytes."""
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if head.startswith(b"HEAD"):
                    writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
                    continue
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                for chunk in chunks:
                    writer.write(chunk)
                    await writer.drain()
                    await asyncio.sleep(0)
                if hold:
                    await ended.wait()
                break
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        ended.set()
        server.close()
