"""One port for WebSockets and plain HTTP, since the WebSocket library answers no POST."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection

MOST_HEAD_BYTES = 64 * 1024
"""The longest request head, in bytes."""


class SharedPortConnection(ServerConnection):
    """A connection that becomes a WebSocket only if its first request asks for one.

    ``serve_http`` is called with the streams of any other connection.
    """

    serve_http: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]
    _head = b""
    _decided = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request before deciding who serves the connection."""
        self._waiting = transport

    def data_received(self, data: bytes) -> None:
        """Collect the first request's head, then pass everything on to whoever serves the connection."""
        if self._decided:
            super().data_received(data)
            return
        self._head += data
        if b"\r\n\r\n" not in self._head and len(self._head) < MOST_HEAD_BYTES:
            return
        self._decided = True
        head = self._head.partition(b"\r\n\r\n")[0].lower()
        if b"upgrade: websocket" in head:
            super().connection_made(self._waiting)
            super().data_received(self._head)
            return
        reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader, self.serve_http)
        assert isinstance(self._waiting, asyncio.Transport)
        self._waiting.set_protocol(protocol)
        protocol.connection_made(self._waiting)
        protocol.data_received(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the library only about the end of a WebSocket."""
        if self._decided:
            super().connection_lost(exc)

    def eof_received(self) -> None:
        """Tell the library only about the end of a WebSocket."""
        if self._decided:
            super().eof_received()
