"""Opening the link that a route asks for."""

from __future__ import annotations

import asyncio

from session.wire.protocol.dialects import dialect
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.links import Compression, Link
from session.wire.transport.service import Route, Transport

_loaded: set[Transport] = set()


async def open_link(
    endpoint: Endpoint, route: Route, *, open_timeout: float, compression: Compression | None = None
) -> Link:
    """A link for ``route``, open; ``compression`` is for requests over HTTP. Raises :class:`LinkError`.

    Its client is imported only here, in a thread: that takes a tenth of a second, in which keys are typed.
    """
    if route.transport not in _loaded:
        await asyncio.to_thread(_load, route)
        _loaded.add(route.transport)
    endpoint = await endpoint.with_key()
    if route.transport is Transport.WEBSOCKET:
        from session.wire.transport.websocket import WebSocketLink

        return await WebSocketLink.open(endpoint, open_timeout=open_timeout)
    from session.wire.transport.http import HttpLink

    path = dialect(route.dialect).path
    return await HttpLink.open(endpoint, path, open_timeout=open_timeout, compression=compression)


def _load(route: Route) -> None:
    """Import the client that ``route`` needs. Call it in a thread, because imports block the event loop."""
    dialect(route.dialect)
    if route.transport is Transport.WEBSOCKET:
        import session.wire.transport.websocket
    else:
        import httpx2  # noqa: F401 (loaded for later)

        import session.wire.transport.http  # noqa: F401 (loaded for later)
