"""An open link with all that its use must know of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from session.link.multiplex import SharedLink
from session.protocol.increment import Exchange
from session.transport.endpoint import Endpoint
from session.transport.links import Link
from session.transport.network import Judge, Standing
from session.transport.service import Route


@dataclass(eq=False, slots=True)
class Line:
    """An open link, and what a request on it may continue from."""

    link: Link
    route: Route
    endpoint: Endpoint
    opened: float
    last: Exchange | None = None
    answered: bool = False
    watch: asyncio.Task[None] | None = field(default=None, repr=False)
    lanes: int = 1
    stood: Standing | None = None
    """How it stood when that was first looked at."""
    shared: SharedLink = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.shared = SharedLink(self.link, self.lanes)

    def stands(self, judge: Judge) -> Standing:
        """Whether the network it was opened on is still there."""
        ends = self.link.ends
        return Standing.SAME if ends is None else judge(*ends)
