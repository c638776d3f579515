"""What every open link to a model server can do."""

from __future__ import annotations

import socket
from typing import Protocol

from session.transport.sockets.network import Address

OPEN_TIMEOUT = 15.0


class Link(Protocol):
    """An open way to ask: one request at a time. Every failure is a :class:`LinkError`, or a
    :class:`~session.transport.refusals.Refusal` where the server answers with an error."""

    aborted: bool

    @property
    def is_open(self) -> bool:
        """False once it cannot carry another request."""

    @property
    def ends(self) -> tuple[Address, Address] | None:
        """The socket's own address and the other's; None without a socket that has both."""

    @property
    def round_trip_seconds(self) -> float | None:
        """What a message to the server and back takes; None where nothing was measured."""

    @property
    def upgrade_seconds(self) -> float | None:
        """What the upgrade to WebSocket took, once there was a socket; None over HTTP."""

    async def send(self, frame: str) -> None:
        """Send one request."""

    async def receive(self) -> list[bytes] | None:
        """The events of the answer that have come, at least one; None where its stream has ended."""

    async def drain(self) -> int:
        """Throw away what is left of the answer before."""

    async def wait_closed(self) -> None:
        """Return when the link is gone."""

    def abort(self) -> None:
        """End it now: the server is told before this returns. Safe to repeat."""

    async def close(self) -> None:
        """End it politely, and after a moment regardless."""


def ends_of(raw: socket.socket | None) -> tuple[Address, Address] | None:
    """The addresses that ``raw`` is between; None where it is closed, or no socket of the network."""
    try:
        if raw is None or raw.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        here, there = raw.getsockname(), raw.getpeername()
    except OSError:
        return None
    return (here[0], here[1]), (there[0], there[1])
