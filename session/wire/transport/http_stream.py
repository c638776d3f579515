"""The sockets below the HTTP client: read whole, and not for each packet while data come fast.

``httpcore2``'s own backend reads one TLS record at a time, with a timeout around each. At 10,000 tokens a
second, each a record of its own, that cost more than everything else that is done about a token.
"""

# ruff: noqa: ASYNC109 - the parameters are those of httpcore2's interface
from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import httpcore2
import httpx2

from session.wire.transport.connect import Http2Error, ReadPacer, connect_socket, is_http2

_MOST_WAITING = 1024 * 1024
"""Bytes that wait to be read before the socket is read no further."""


Connect = Callable[[str, int], Coroutine[Any, Any, socket.socket]]
"""Connects to a host and a port, or raises OSError or an ExceptionGroup of them."""


class DirectTransport(httpx2.AsyncHTTPTransport):
    """``httpx2``'s transport on these sockets; it asks no HTTP proxy."""

    def __init__(self, tls: ssl.SSLContext | bool, limits: httpx2.Limits, connect: Connect) -> None:
        super().__init__(verify=tls, limits=limits)
        # ``httpx2`` has no parameter for ``httpcore2``'s network backend.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls if isinstance(tls, ssl.SSLContext) else None,
            max_connections=limits.max_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=SocketBackend(connect),
        )


class SocketBackend(httpcore2.AsyncNetworkBackend):
    """Connects for ``httpcore2``."""

    def __init__(self, connect: Connect = connect_socket) -> None:
        self._connect = connect

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address of ``host`` that takes it. Nobody asks for the other arguments."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                raw = await self._connect(host, port)
                transport, reader = await loop.create_connection(_Reader, sock=raw)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except (OSError, ExceptionGroup) as error:
            raise httpcore2.ConnectError(str(error)) from error
        reader.paced_by(transport)
        return SocketStream(reader, transport)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SocketStream(httpcore2.AsyncNetworkStream):
    """A connected socket, with TLS once :meth:`start_tls` was called."""

    def __init__(self, reader: _Reader, below: asyncio.Transport) -> None:
        """``below`` is the transport that TLS runs on: only its pause lets the loop sleep."""
        self._reader = reader
        self._below = below

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Everything that has come, at least a byte; empty at the end. No caller sets a ``timeout``."""
        try:
            return await self._reader.take()
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write, once the socket takes more. No caller sets a ``timeout``."""
        try:
            await self._reader.write(buffer)
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    async def aclose(self) -> None:
        """Close; what was written still goes out."""
        self._reader.stop()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        """The stream within TLS."""
        inner = _Reader()
        try:
            async with asyncio.timeout(timeout):
                transport = await asyncio.get_running_loop().start_tls(
                    self._below, inner, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            self._below.abort()
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:  # a connection that is lost, and all that TLS complains about
            self._below.abort()
            raise httpcore2.ConnectError(str(error)) from error
        except BaseException:  # a cancelled handshake, too, leaves no open socket behind
            self._below.abort()
            raise
        if transport is None:
            raise httpcore2.ConnectError("the connection was closed in the TLS handshake")
        inner.connection_made(transport)
        inner.paced_by(self._below)
        return SocketStream(inner, self._below)

    def get_extra_info(self, info: str) -> Any:
        """``ssl_object``, ``socket``, and whether it ``is_readable``: an idle one is at its end then."""
        if info == "is_readable":
            return self._reader.has_something
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._reader.known(names.get(info, info))


class _Reader(asyncio.Protocol):
    """Collects what comes, and lets what goes out wait while the socket is full."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._pacer: ReadPacer | None = None
        self._waiting = bytearray()
        self._arrival: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._ended = self._is_held = self._heard = False
        self._error: Exception | None = None

    # -- for the stream ------------------------------------------------------------------------

    @property
    def has_something(self) -> bool:
        """Whether a read would return at once."""
        return self._ended or bool(self._waiting)

    def paced_by(self, transport: asyncio.Transport) -> None:
        """Let ``transport`` rest between reads while data come fast."""
        self._pacer = ReadPacer(transport)

    async def take(self) -> bytes:
        """Everything that has come. Raises OSError if the connection was lost."""
        while not self._waiting:
            if self._error is not None:
                raise ConnectionError(str(self._error)) from self._error
            if self._ended:
                return b""
            self._arrival = asyncio.get_running_loop().create_future()
            try:
                await self._arrival
            finally:
                self._arrival = None
        taken = bytes(self._waiting)
        self._waiting.clear()
        if self._is_held and self._pacer is not None:
            self._is_held = False
            self._pacer.release()
        return taken

    async def write(self, data: bytes) -> None:
        """Send ``data`` once there is room. Raises OSError if the connection was lost."""
        if self._transport is None or self._transport.is_closing() or self._error is not None:
            raise ConnectionError("the connection is closed")
        self._transport.write(data)
        if self._room is not None:
            await asyncio.shield(self._room)

    def stop(self) -> None:
        """Close the connection."""
        if self._pacer is not None:
            self._pacer.stop()
        if self._transport is not None:
            self._transport.close()

    def known(self, name: str) -> Any:
        """What the transport knows."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    # -- for the event loop --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket, TLS included, is there."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """The socket was read."""
        if not self._heard and is_http2(data):
            self._ended, self._error = True, Http2Error("HTTP/2")
            self.stop()
            self._wake()
            return
        self._heard = True
        self._waiting += data
        self._wake()
        if self._pacer is None:
            return
        if len(self._waiting) > _MOST_WAITING and not self._is_held:
            self._is_held = True
            self._pacer.hold()
        self._pacer.received(len(data))

    def eof_received(self) -> None:
        """The server sends no more."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._ended, self._error = True, self._error or exc
        if self._pacer is not None:
            self._pacer.stop()
        self.resume_writing()
        self._wake()

    def pause_writing(self) -> None:
        """The socket is full."""
        self._room = self._room or asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The socket takes more."""
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)
