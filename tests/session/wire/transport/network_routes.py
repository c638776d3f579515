"""Proxies for tests: one that is asked with CONNECT, one that speaks SOCKS5."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
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

    async with _listening(tunnel, "http", handle, tasks):
        yield tunnel


@asynccontextmanager
async def socks(port: int, *, refuse: bool = False) -> AsyncIterator[Tunnel]:
    """A SOCKS5 proxy on loopback (RFC 1928) that connects every request to ``port``, or refuses it."""
    tunnel = Tunnel()
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            version, methods = await reader.readexactly(2)
            offered = await reader.readexactly(methods)
            assert version == 5
            writer.write(bytes([5, 2 if 2 in offered else 0]))
            if 2 in offered:
                _, length = await reader.readexactly(2)
                user = await reader.readexactly(length)
                password = await reader.readexactly((await reader.readexactly(1))[0])
                tunnel.credentials.append(f"{user.decode()}:{password.decode()}")
                writer.write(b"\x01\x00")
            _, command, _, kind, length = await reader.readexactly(5)
            assert (command, kind) == (1, 3), "a name, which the proxy looks up"
            name = await reader.readexactly(length)
            there_port = int.from_bytes(await reader.readexactly(2))
            tunnel.asked.append(f"{name.decode()}:{there_port}")
            writer.write(bytes([5, 2 if refuse else 0, 0, 1, 0, 0, 0, 0, 0, 0]))
            if not refuse:
                there_reader, there = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(pass_on(reader, there), pass_on(there_reader, writer))
                there.close()
        writer.close()

    async with _listening(tunnel, "socks5", handle, tasks):
        yield tunnel


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


@asynccontextmanager
async def _listening(
    tunnel: Tunnel, scheme: str, handle: Handler, tasks: set[asyncio.Task[None]]
) -> AsyncIterator[None]:
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    tunnel.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
