"""What every open link to a model server can do, and what the links to one server share.

Requests may be compressed, which ends when the server refuses one. A server that spark itself starts and
stops has an address only while it runs.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.network import Address

OPEN_TIMEOUT = 15.0


class Link(Protocol):
    """An open way to ask: one request at a time. Every failure is a :class:`LinkError`, or a
    :class:`~session.wire.transport.refusals.Refusal` where the server answers with an error."""

    aborted: bool

    @property
    def is_open(self) -> bool:
        """False once it cannot carry another request."""

    @property
    def ends(self) -> tuple[Address, Address] | None:
        """The socket's own address and the other's; None without a socket that has both."""

    @property
    def round_trip_seconds(self) -> float | None:
        """Seconds of a round trip to the server; None if none was measured."""

    @property
    def upgrade_seconds(self) -> float | None:
        """Seconds of the upgrade to WebSocket, from the open socket on; None over HTTP."""

    async def send(self, frame: str) -> None:
        """Send one request."""

    async def receive(self) -> list[bytes] | None:
        """The events of the answer that have come, at least one; None where its stream has ended."""

    async def drain(self) -> int:
        """Discard the rest of the previous answer."""

    async def wait_closed(self) -> None:
        """Return when the link is gone."""

    def abort(self) -> None:
        """Close the socket at once; the kernel tells the server before this returns. Safe to repeat."""

    async def close(self) -> None:
        """Close it in an orderly way; after a short timeout, abort it."""


@runtime_checkable
class PostingLink(Link, Protocol):
    """A link that can also ask for an answer in one body."""

    async def post(self, frame: str) -> None:
        """Ask, and read the answer to its end. Raises as :meth:`Link.send` does."""


def ends_of(raw: socket.socket | None) -> tuple[Address, Address] | None:
    """The local and remote address of ``raw``; None if it is closed or not an internet socket."""
    try:
        if raw is None or raw.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        here, there = raw.getsockname(), raw.getpeername()
    except OSError:
        return None
    return (here[0], here[1]), (there[0], there[1])


_LEAST = 1_000
"""The shortest request, in bytes, that is worth compressing: a shorter one is one packet anyway."""
_LEVEL = 6
_REFUSED = (400, 415)
"""The statuses of servers that cannot read a compressed body: not all of them know why they cannot."""


class Compression:
    """What one server's requests over HTTP are sent as. All of its links share it."""

    def __init__(self, wanted: bool = False) -> None:
        self.wanted = wanted
        self._proven = False

    async def packed(self, body: bytes) -> bytes | None:
        """``body`` as gzip; None where it goes out as it is."""
        if not self.wanted or len(body) < _LEAST:
            return None
        return await asyncio.to_thread(gzip.compress, body, _LEVEL)

    def doubts(self, status: int) -> bool:
        """Whether a compressed request that got ``status`` is worth another try as it is."""
        self._proven = self._proven or 200 <= status < 300
        return status in _REFUSED and not self._proven

    def settle(self, status: int) -> None:
        """The same request got ``status`` without compression."""
        if status not in _REFUSED:
            self.wanted = False


HOST_ENDED = "engine"
"""The code of a LinkError whose cause is a server of our own, not one somewhere else."""

_GONE = (LinkProblem.CLOSED, LinkProblem.UNREACHABLE, LinkProblem.REFUSED)
"""The errors of a client whose server has just ended."""


class Host(Protocol):
    """A server with an address only while it runs."""

    on_end: Callable[[str], None]
    """Called with a line for the user when the running server ends by itself."""

    async def serve(self, say: Callable[[str], None]) -> Endpoint:
        """Start it if it does not run, and give its address. ``say`` gets the progress. Raises LinkError."""
        ...

    async def why_ended(self) -> str | None:
        """Why it has ended, as a line for the user; None while it runs."""
        ...

    async def close(self) -> None:
        """End it."""
        ...


async def behind(host: Host, error: LinkError) -> LinkError:
    """Return the reason why ``host`` ended, if that caused ``error``; otherwise ``error``."""
    if error.code == HOST_ENDED or error.kind not in _GONE:
        return error
    why = await host.why_ended()
    return error if why is None else LinkError(LinkProblem.REFUSED, why, code=HOST_ENDED)
