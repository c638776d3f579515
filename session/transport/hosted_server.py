"""A server that spark itself starts and stops, as the connection sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem

HOST_ENDED = "engine"
"""The code of a LinkError whose cause is a server of our own, not one somewhere else."""

_GONE = (LinkProblem.CLOSED, LinkProblem.UNREACHABLE, LinkProblem.REFUSED)
"""What a server that has just ended looks like from outside."""


class Host(Protocol):
    """What stands behind an address that exists only while it is wanted."""

    on_end: Callable[[str], None]
    """Called with a line for the person when the running server ends unasked."""

    async def serve(self, say: Callable[[str], None]) -> Endpoint:
        """Where it listens, started if it does not run; ``say`` is told how that goes. Raises LinkError."""
        ...

    async def why_ended(self) -> str | None:
        """Why it is gone, as a line for the person; None while it runs."""
        ...

    async def close(self) -> None:
        """End it."""
        ...


async def behind(host: Host, error: LinkError) -> LinkError:
    """``error``, or what lies behind it: that ``host`` has ended."""
    if error.code == HOST_ENDED or error.kind not in _GONE:
        return error
    why = await host.why_ended()
    return error if why is None else LinkError(LinkProblem.REFUSED, why, code=HOST_ENDED)
