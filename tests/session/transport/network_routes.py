"""A CONNECT proxy and an HTTP/2 server for tests."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamEnded

from tests.session.link.hostile import pass_on


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


@dataclass
class Served:
    """The connections and requests that an HTTP/2 server has received."""

    url: str = ""
    connections: int = 0
    requests: list[str] = field(default_factory=list)


@asynccontextmanager
async def http2(tls: ssl.SSLContext, answer: bytes) -> AsyncIterator[Served]:
    """A server on ``localhost`` that speaks only HTTP/2 and answers every POST with ``answer``."""
    tls.set_alpn_protocols(["h2"])
    served = Served()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.connections += 1
        link = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        link.initiate_connection()
        methods: dict[int, str] = {}
        writer.write(link.data_to_send())
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                for event in link.receive_data(data):
                    if isinstance(event, RequestReceived):
                        headers = {str(name): str(value) for name, value in event.headers or ()}
                        served.requests.append(f"{headers[':method']} {headers[':path']}")
                        methods[event.stream_id or 0] = headers[":method"]
                    elif isinstance(event, StreamEnded):
                        stream = event.stream_id or 0
                        posted = methods[stream] == "POST"
                        kind = ("content-type", "text/event-stream")
                        status = (":status", "200" if posted else "404")
                        link.send_headers(stream, [status, kind], end_stream=not posted)
                        if posted:
                            link.send_data(stream, answer, end_stream=True)
                writer.write(link.data_to_send())
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    served.url = f"https://localhost:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield served
    finally:
        server.close()
