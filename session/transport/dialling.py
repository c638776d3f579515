"""Opening the link that a route asks for."""

from __future__ import annotations

from session.link.service import Route, Transport
from session.protocol.dialects import dialect
from session.transport.endpoint import Endpoint
from session.transport.links import Link


async def open_link(endpoint: Endpoint, route: Route, *, open_timeout: float) -> Link:
    """A link for ``route``, open. Raises :class:`LinkError`. The client for HTTP is imported only here."""
    endpoint = await endpoint.with_key()
    if route.transport is Transport.WEBSOCKET:
        from session.transport.websocket import WebSocketLink

        return await WebSocketLink.open(endpoint, open_timeout=open_timeout)
    from session.transport.http import HttpLink

    return await HttpLink.open(endpoint, dialect(route.dialect).path, open_timeout=open_timeout)
