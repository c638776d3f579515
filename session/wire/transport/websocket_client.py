"""The ``websockets`` client as spark uses it: no redirects, messages in batches, a paced socket."""

from __future__ import annotations

import asyncio
import select
import socket
from time import monotonic
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event

from session.wire.transport.read_pacer import ReadPacer

MOST_WAITING = 256
"""Messages that wait to be taken before the socket is read no further."""
_ENOUGH_BYTES = 16 * 1024 * 1024
"""The same for the bytes of those messages."""
MOST_BYTES = 64 * 1024 * 1024
"""Bytes that may wait in all. A server gets past it only by compression, with what unpacks a thousandfold, or
by pings whose answers it does not read: the connection is ended."""
_AT_ONCE = 16 * 1024
"""Bytes that are unpacked between two looks at how much waits."""


class Client(ClientConnection):
    """A connection whose messages are taken in batches.

    It keeps the messages itself, because the library's queue costs a coroutine for each of them.
    Control frames stay with the library.
    """

    connected = 0.0
    """When the socket, TLS included, was there."""
    below_tls: asyncio.Transport | None = None
    """The transport that TLS runs on, where the dialler has it in hand."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket, TLS included, is there."""
        self.connected = monotonic()
        self._messages: list[bytes] = []
        self._waiting = 0
        """The bytes of the messages."""
        self._fragments = bytearray()
        self._arrival: asyncio.Future[None] | None = None
        self._is_full = self._is_lost = False
        super().connection_made(transport)
        plain = None if transport.get_extra_info("sslcontext") else self.transport
        self._pacer = ReadPacer(self.below_tls or plain)

    async def receive(self) -> list[bytes]:
        """The messages that have come, at least one. Raises ``ConnectionClosed`` when no more can come.

        Cancelling it loses no message.
        """
        while not self._messages:
            if self._is_lost:
                return [await self.recv(decode=False)]  # raises what ended the connection
            self._arrival = self.loop.create_future()
            try:
                await self._arrival
            finally:
                self._arrival = None
        return self.take_waiting()

    def take_waiting(self) -> list[bytes]:
        """The messages that have come, if any."""
        messages, self._messages = self._messages, []
        self._waiting = 0
        if self._is_full:
            self._is_full = False
            self._pacer.release()
        return messages

    @property
    def is_readable(self) -> bool:
        """Whether the socket has bytes, or its end, that were not read yet."""
        raw: socket.socket | None = self.transport.get_extra_info("socket")
        if raw is None or raw.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(raw, select.POLLIN)
        return bool(poll.poll(0))

    def data_received(self, data: bytes) -> None:
        """The socket was read."""
        for at in range(0, len(data), _AT_ONCE):
            super().data_received(data[at : at + _AT_ONCE])
            if self._waiting > MOST_BYTES or self.transport.get_write_buffer_size() > MOST_BYTES:
                self.protocol.fail(CloseCode.MESSAGE_TOO_BIG, f"more than {MOST_BYTES:,} bytes wait")
                self.transport.abort()
                return
        self._pacer.received(len(data))

    def process_event(self, event: Event) -> None:
        """Keep a message, and hand everything else on to the library."""
        if not isinstance(event, Frame) or event.opcode >= Opcode.CLOSE:
            super().process_event(event)
            return
        data = bytes(event.data)
        if not event.fin or event.opcode == Opcode.CONT:
            self._fragments += data
            if not event.fin:
                return
            data = bytes(self._fragments)
            self._fragments.clear()
        self._messages.append(data)
        self._waiting += len(data)
        if not self._is_full and (len(self._messages) >= MOST_WAITING or self._waiting >= _ENOUGH_BYTES):
            self._is_full = True
            self._pacer.hold()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        super().connection_lost(exc)
        self._is_lost = True
        self._pacer.stop()
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class Dial(connect):
    """``connect`` without following redirects: they would carry the key to wherever they point."""

    is_connected = False
    """Whether the socket, TLS included, was there: what fails after that is the upgrade."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Report the redirect as the error that it is."""
        return exc

    async def open_tcp_connection(self) -> ClientConnection:
        """Open the connection."""
        client = await self._open()
        self.is_connected = True
        return client

    async def _open(self) -> ClientConnection:
        """Over TLS on a given socket, keep the transport below TLS for the pacer."""
        options: dict[str, Any] = self.create_connection_kwargs
        given: socket.socket | None = options.get("sock")
        if given is None or not self.ws_uri.secure:
            return await super().open_tcp_connection()
        loop = asyncio.get_running_loop()
        below, _ = await loop.create_connection(asyncio.Protocol, sock=given)
        client = self.factory(self.ws_uri)
        transport = await loop.start_tls(below, client, options["ssl"], server_hostname=self.ws_uri.host)
        if transport is None:
            raise ConnectionResetError("the connection was lost as its TLS handshake ended")
        if isinstance(client, Client):
            client.below_tls = below
        client.connection_made(transport)
        return client
