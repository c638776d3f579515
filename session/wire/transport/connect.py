"""Sockets to a model server: connecting to a host, the trusted certificates, and reading at a pace.

A host may have several addresses, or stand behind a proxy. The certificates are the system's, or those that
SSL_CERT_FILE and SSL_CERT_DIR name.

A busy socket is read a hundred times a second, instead of once for each packet. At 1,000 tokens a second
and more, waking up for each of them costs more than all the work on the tokens. Nobody sees a token some
milliseconds later: the screen shows thirty frames a second.
"""

from __future__ import annotations

import asyncio
import functools
import os
import socket
import ssl

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import UNTRUSTED, LinkError, LinkProblem, one_line
from session.wire.transport.proxies import connect_by_socks, is_socks


class Http2Error(ConnectionError):
    """The server answers in HTTP/2, which nobody asked it for: it speaks nothing else."""


def is_http2(data: bytes) -> bool:
    """Whether a server's first bytes are a frame of HTTP/2 (RFC 9113, 3.4): its SETTINGS, or a GOAWAY."""
    return data[:1] == b"\0" and data[3:4] in (b"\x04", b"\x07") and data[4:9] == bytes(5)


HEAD_START = 0.25
"""Seconds after which the next address is tried beside one that does not answer (RFC 8305)."""


async def connect_to(endpoint: Endpoint) -> socket.socket | None:
    """A socket to ``endpoint``, by way of a SOCKS proxy where the environment names one; None where an HTTP
    proxy is to be asked. Raises as :func:`connect_socket` does."""
    proxy = endpoint.proxy_url
    if proxy and not is_socks(proxy):
        return None
    return await (connect_by_socks(proxy, *endpoint.address) if proxy else connect_socket(*endpoint.address))


async def connect_socket(host: str, port: int) -> socket.socket:
    """A socket connected to the first address of ``host`` that takes it.

    Raises OSError, or an ExceptionGroup of one OSError for each address. asyncio's own way joins them into
    one OSError without a number, from which nobody can tell what went wrong.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    waiting = [(socket.socket(*kind), address) for *kind, _, address in found]
    trying: set[asyncio.Task[socket.socket]] = set()
    errors: list[OSError] = []
    try:
        while waiting or trying:
            if waiting:
                trying.add(loop.create_task(_connected(*waiting.pop(0))))
            patience = HEAD_START if waiting else None
            done, trying = await asyncio.wait(trying, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            connected: list[socket.socket] = []
            for task in done:
                try:
                    connected.append(task.result())
                except OSError as error:
                    errors.append(error)
            for late in connected[1:]:
                late.close()
            if connected:
                return connected[0]
    finally:
        for unused, _ in waiting:
            unused.close()
        for task in trying:
            task.cancel()
            task.add_done_callback(_close_if_connected)
    if len(errors) == 1:
        raise errors[0]
    raise ExceptionGroup(f"no address of {host} could be connected to", errors)


async def _connected(connecting: socket.socket, address: tuple[object, ...]) -> socket.socket:
    try:
        connecting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connecting, address)
    except BaseException:  # a cancelled attempt, too, leaves no open socket behind
        connecting.close()
        raise
    return connecting


def _close_if_connected(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


_FILE = "SSL_CERT_FILE"


@functools.cache
def trust() -> ssl.SSLContext:
    """The context for every connection, read once, which takes tens of milliseconds.

    Raises :class:`LinkError` for a file without certificates: OpenSSL would silently trust nobody.
    """
    try:
        context = ssl.create_default_context()
    except OSError as error:
        message = f"The system's certificates cannot be read: {error.strerror or one_line(error)}."
        raise LinkError(LinkProblem.UNREACHABLE, message) from error
    file = os.environ.get(_FILE)
    if file:
        try:
            context.load_verify_locations(file)
        except OSError as error:  # ssl.SSLError is one
            why = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
            message = f"{_FILE} names {one_line(file)}, which cannot be read: {why}."
            raise LinkError(LinkProblem.UNREACHABLE, message, code=UNTRUSTED) from None
    return context


GAP_SECONDS = 0.001
"""Data that follow other data sooner than twice this make the socket rest, for as long as this at first."""
LONGEST_REST = 0.008
"""Each rest that ends with data waiting makes the next one twice as long, up to this."""
LARGE = 32 * 1024
"""No rest follows a read of this many bytes: so many at once are worth waking up for."""


class ReadPacer:
    """Pauses a transport between reads while data come fast, and while its reader asks it to (``hold``)."""

    def __init__(self, transport: asyncio.Transport | None) -> None:
        """``transport`` is the one below TLS: only its pause lets the loop sleep. None for no pauses."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._last = self._awake = float("-inf")
        """When data were read last, and when the last rest ended."""
        self._rest = GAP_SECONDS
        self._resting: asyncio.TimerHandle | None = None
        self._held = False

    def received(self, size: int) -> None:
        """``size`` bytes were read."""
        now = self._loop.time()
        waited = now - self._awake < GAP_SECONDS
        self._rest = min(2 * self._rest, LONGEST_REST) if waited else GAP_SECONDS
        quick = size < LARGE and (waited or now - self._last < 2 * GAP_SECONDS)
        if quick and self._resting is None and self._transport is not None:
            self._transport.pause_reading()
            self._resting = self._loop.call_later(self._rest, self._rested)
        self._last = now

    def hold(self) -> None:
        """Read nothing until :meth:`release`: whoever takes the data is behind."""
        self._held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def release(self) -> None:
        """Read again."""
        self._held = False
        if self._transport is not None and self._resting is None:
            self._transport.resume_reading()

    def stop(self) -> None:
        """The connection is over."""
        if self._resting is not None:
            self._resting.cancel()

    def _rested(self) -> None:
        self._resting = None
        self._awake = self._loop.time()
        if not self._held and self._transport is not None:
            self._transport.resume_reading()
