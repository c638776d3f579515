"""An HTTP/2 server for the wire bench: it passes each request on to a partner, which speaks HTTP/1.1."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from h2.exceptions import ProtocolError

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.http import client_for

DEFAULT_WINDOW = 65_535
"""What a client may send before the server grants more (RFC 9113, 6.9.2)."""
LARGE_WINDOW = 16 * 1024 * 1024


class _Connection:
    """One client; ``window`` is how many bytes each of its requests may have on the way."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: str, window: int
    ) -> None:
        self._reader, self._writer = reader, writer
        self._upstream, self._window = upstream, window
        self._h2 = H2Connection(H2Configuration(client_side=False))
        self._bodies: dict[int, bytearray] = {}
        self._paths: dict[int, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        self._h2.initiate_connection()
        if self._window > DEFAULT_WINDOW:
            self._h2.increment_flow_control_window(self._window - DEFAULT_WINDOW)
        self._flush()
        endpoint = Endpoint(self._upstream)
        with contextlib.suppress(ConnectionError, ProtocolError):
            async with await client_for(endpoint, 15.0) as client:
                while data := await self._reader.read(65_536):
                    for event in self._h2.receive_data(data):
                        self._take(event, client)
                    self._flush()
        for task in self._tasks:
            task.cancel()
        self._writer.close()

    def _take(self, event: object, client: httpx2.AsyncClient) -> None:
        if isinstance(event, RequestReceived):
            headers = dict(event.headers)
            self._paths[event.stream_id] = f"{headers[b':method'].decode()} {headers[b':path'].decode()}"
            self._bodies[event.stream_id] = bytearray()
            if self._window > DEFAULT_WINDOW:
                self._h2.increment_flow_control_window(self._window - DEFAULT_WINDOW, event.stream_id)
        elif isinstance(event, DataReceived):
            self._bodies[event.stream_id] += event.data
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamEnded):
            answering = asyncio.create_task(self._answer(event.stream_id, client))
            self._tasks.add(answering)
            answering.add_done_callback(self._tasks.discard)

    async def _answer(self, stream: int, client: httpx2.AsyncClient) -> None:
        method, _, path = self._paths.pop(stream).partition(" ")
        url = self._upstream.removesuffix("/v1") + path
        body = bytes(self._bodies.pop(stream))
        async with client.stream(method, url, content=body) as response:
            kind = response.headers.get("content-type", "application/json")
            self._h2.send_headers(stream, [(":status", str(response.status_code)), ("content-type", kind)])
            async for chunk in response.aiter_bytes():
                for at in range(0, len(chunk), 16_384):
                    self._h2.send_data(stream, chunk[at : at + 16_384])
                self._flush()
            self._h2.end_stream(stream)
            self._flush()

    def _flush(self) -> None:
        self._writer.write(self._h2.data_to_send())


@contextlib.asynccontextmanager
async def h2_before(upstream: str, files: tuple[Path, ...], window: int) -> AsyncIterator[str]:
    """Give the base URL of an HTTP/2 server before the partner at ``upstream``."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files[0], files[1])
    tls.set_alpn_protocols(["h2"])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):  # the bench ends before its clients close
            await _Connection(reader, writer, upstream, window).run()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"https://localhost:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
