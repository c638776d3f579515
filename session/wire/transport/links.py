"""What every open link to a model server can do."""

from __future__ import annotations

import socket
from typing import Protocol, runtime_checkable

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
