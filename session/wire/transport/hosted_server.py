"""A server that spark itself starts and stops, as the connection sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem

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
