"""One WebSocket to a model server: open, send, receive, abort. Built on ``websockets``' asyncio client.

The ``websockets`` client as spark uses it: no redirects, messages in batches, a paced socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import ssl
from collections.abc import Mapping
from time import monotonic
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event

from session.wire.transport.connect import Http2Error, ReadPacer, connect_to, is_http2, trust
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import NO_UPGRADE, LinkError, LinkProblem, one_line
from session.wire.transport.handshakes import explain
from session.wire.transport.links import OPEN_TIMEOUT, ends_of
from session.wire.transport.network import Address

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
    speaks_http2 = False
    """Whether the server answers in HTTP/2."""
    _is_first = True
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
        if self._is_first and is_http2(data):
            self.speaks_http2 = True
            self.transport.abort()
            return
        self._is_first = False
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
        """The socket is gone; also where TLS failed before it was there."""
        if not self.connected:
            return
        super().connection_lost(exc)
        self._is_lost = True
        self._pacer.stop()
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class Dial(connect):
    """``connect`` without following redirects: they would carry the key to wherever they point."""

    connected: ClientConnection | None = None
    """The connection once the socket, TLS included, was there: what fails after that is the upgrade."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Report the redirect as the error that it is."""
        return exc

    async def open_tcp_connection(self) -> ClientConnection:
        """Open the connection."""
        self.connected = await self._open()
        return self.connected

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


MAX_FRAME_BYTES = 16 * 1024 * 1024
"""A final event carries the whole response, past the library's 1 MiB default. A window of 128,000 tokens,
every character escaped and said twice, is 8 MB; each MB holds the loop up for about 10 ms."""
_PING_SECONDS = 20.0
_PONG_SECONDS = 30.0
_MOST_DRAINED = 4 * MOST_WAITING
_BETA = {"OpenAI-Beta": "responses_websockets=2026-02-06"}

# The library logs failed handshakes and broken peers; all of them reach the caller as errors.
_LOGGER = logging.getLogger("spark.wire")


class WebSocketLink:
    """An open connection. Made by :meth:`open`; every failure is a :class:`LinkError`."""

    def __init__(self, client: Client, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint
        self._pong: asyncio.Future[float] | None = None
        self._upgrade: float | None = None
        self.aborted = False

    @classmethod
    async def open(cls, endpoint: Endpoint, *, open_timeout: float = OPEN_TIMEOUT) -> WebSocketLink:
        """Dial ``endpoint``: resolve, connect, verify TLS, upgrade, within ``open_timeout`` seconds.

        Proxies are taken from the environment, never for a server on this machine. Raises
        :class:`LinkError`: unreachable, refused, unauthorized, no_websocket, model or server.
        """
        url = endpoint.websocket_url()
        headers = {**_BETA, **endpoint.request_headers()}
        tls = await asyncio.to_thread(trust) if url.startswith("wss:") else None
        dial: Dial | None = None
        try:
            async with asyncio.timeout(open_timeout):
                raw = await connect_to(endpoint)
                dial = cls._dial(url, endpoint, headers, tls, raw)
                client = await cls._upgraded(dial, raw)
        except (OSError, WebSocketException, ValueError, EOFError, ImportError, ExceptionGroup) as error:
            met = None if dial is None else dial.connected
            in_http2 = isinstance(met, Client) and met.speaks_http2
            problem = explain(Http2Error() if in_http2 else error, endpoint, open_timeout)
            if problem.kind is LinkProblem.UNREACHABLE and met is not None and not in_http2:
                problem.code = NO_UPGRADE
            raise problem from error
        link = cls(client, endpoint)
        link._upgrade = monotonic() - client.connected
        with contextlib.suppress(ConnectionClosed):  # whoever asks on it is told
            link._pong = asyncio.ensure_future(await client.ping())
        return link

    @staticmethod
    def _dial(
        url: str,
        endpoint: Endpoint,
        headers: Mapping[str, str],
        tls: ssl.SSLContext | None,
        raw: socket.socket | None,
    ) -> Dial:
        """What dials when it is awaited, on ``raw`` or else by way of a proxy."""
        return Dial(
            url,
            additional_headers=headers,
            user_agent_header="spark",
            compression=None,
            extensions=[ClientPerMessageDeflateFactory(client_max_window_bits=True)],
            proxy=endpoint.proxy_url if raw is None else None,
            open_timeout=None,  # the caller's covers the socket too
            sock=raw,
            ping_interval=_PING_SECONDS,
            ping_timeout=_PONG_SECONDS,
            close_timeout=1.0,
            max_size=MAX_FRAME_BYTES,
            logger=_LOGGER,
            ssl=tls,
            create_connection=Client,
        )

    @staticmethod
    async def _upgraded(dial: Dial, raw: socket.socket | None) -> Client:
        try:
            client = await dial
        except BaseException:  # a cancelled upgrade, too, leaves no open socket behind
            if raw is not None:
                raw.close()
            raise
        assert isinstance(client, Client)
        return client

    @property
    def is_open(self) -> bool:
        """False once either side has begun to close, or the connection was lost."""
        return not self.aborted and self._client.close_code is None and self._client.state.name == "OPEN"

    @property
    def ends(self) -> tuple[Address, Address] | None:
        """The two addresses of its socket."""
        return ends_of(self._client.transport.get_extra_info("socket"))

    @property
    def upgrade_seconds(self) -> float | None:
        """Seconds from the open socket to the server's answer to the upgrade."""
        return self._upgrade

    @property
    def round_trip_seconds(self) -> float | None:
        """Seconds of the last ping, or of the first one; None before its answer."""
        if self._client.latency:
            return self._client.latency
        pong = self._pong
        answered = pong is not None and pong.done() and not pong.cancelled() and pong.exception() is None
        return pong.result() if pong is not None and answered else None

    async def send(self, frame: str) -> None:
        """Send one text frame. Raises :class:`LinkError` (``closed``)."""
        try:
            await self._client.send(frame)
        except ConnectionClosed as error:
            raise self._closed(error) from error

    async def receive(self) -> list[bytes]:
        """The frames that have come, at least one, as bytes: a damaged character must not end the answer.

        Raises :class:`LinkError` (``closed``). Cancelling it loses no frame.
        """
        try:
            return await self._client.receive()
        except ConnectionClosed as error:
            raise self._closed(error) from error

    async def drain(self) -> int:
        """Discard the frames that came after the last answer; return their number."""
        frames = len(self._client.take_waiting())
        # The event loop gets a turn only where there is something to read: a request waits for this.
        while frames < _MOST_DRAINED and self._client.is_readable:
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # the first only asks the socket; what it has is read in the second
            waiting = self._client.take_waiting()
            if not waiting:
                break
            frames += len(waiting)
        return frames

    async def wait_closed(self) -> None:
        """Return when the connection is gone, for whatever reason."""
        await self._client.wait_closed()

    def abort(self) -> None:
        """Close the socket at once; the kernel tells the server before this returns. Safe to repeat."""
        if self.aborted:
            return
        self.aborted = True
        raw: socket.socket | None = self._client.transport.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.shutdown(socket.SHUT_RDWR)
        self._client.transport.abort()

    async def close(self) -> None:
        """Close with the closing handshake; after a second, abort."""
        if not self.aborted:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._client.close()
        self.abort()

    def _closed(self, error: ConnectionClosed) -> LinkError:
        frame = error.rcvd
        said = "without a reason" if frame is None else f"with code {frame.code}"
        if frame is not None and frame.reason:
            said += f" ({one_line(frame.reason)})"
        if error.sent is not None and not error.rcvd_then_sent and error.sent.reason:
            said = f"after a protocol error ({error.sent.reason})"
        return LinkError(LinkProblem.CLOSED, f"{self._endpoint.host} closed the connection {said}.")
