"""An open link, with what a request on it may continue from."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from session.wire.protocol.increment import Exchange
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.links import Link
from session.wire.transport.service import Route


@dataclass(eq=False, slots=True)
class Channel:
    """An open link to ``endpoint`` by ``route``; ``number`` is its name in the lifecycle."""

    number: int
    link: Link
    route: Route
    endpoint: Endpoint
    unread: deque[bytes] = field(default_factory=deque)
    """Frames of the answer that have come and were not read yet."""
    last: Exchange | None = None
    """The exchange that the next request may continue from."""
    ahead: object = None
    """The request whose conversation was last sent ahead, before its prompt."""
    reading: asyncio.Task[None] | None = None
    """The wait for the server to have read it; the channel carries no other request meanwhile."""
