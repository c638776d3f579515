"""A CONNECT proxy and an HTTP/2 server for tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.session.wire.link.hostile import pass_on


@dataclass
class Tunnel:
    """A proxy's address, with the servers and credentials of its requests."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)


@asynccontextmanager
async def proxy(port: int, *, refuse: str = "") -> AsyncIterator[Tunnel]:
    """A proxy on loopback that connects every request to ``port``; with ``refuse`` it answers every request
    with that status line."""
    tunnel = Tunnel()
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split(" ", 2)
            assert method == "CONNECT", head
            tunnel.asked.append(target)
            lines = (line.partition(": ") for line in head.split("\r\n"))
            tunnel.credentials += [value for name, _, value in lines if name.lower() == "proxy-authorization"]
            if refuse:
                writer.write(f"HTTP/1.1 {refuse}\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                there_reader, there = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(pass_on(reader, there), pass_on(there_reader, writer))
                there.close()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    tunnel.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield tunnel
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
