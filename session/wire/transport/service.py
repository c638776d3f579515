"""A provider's servers: their routes, the limits of a connection, and their quirks.

All of it is data (``catalogue.toml``); nothing here knows a provider by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from session.wire.protocol.request import Quirks


class Transport(StrEnum):
    """The transports that carry requests and answers."""

    WEBSOCKET = "websocket"
    SSE = "sse"


@dataclass(frozen=True, slots=True)
class Route:
    """A transport and the dialect (``protocol/dialects.py``) that is spoken over it."""

    transport: Transport
    dialect: str

    def __str__(self) -> str:
        names = {"responses": "Responses", "chat": "Chat Completions", "messages": "Messages"}
        over = "WebSocket" if self.transport is Transport.WEBSOCKET else "HTTP"
        return f"{names.get(self.dialect, self.dialect)} over {over}"


RESPONSES_OVER_WEBSOCKET = Route(Transport.WEBSOCKET, "responses")
RESPONSES_OVER_SSE = Route(Transport.SSE, "responses")


@dataclass(frozen=True, slots=True)
class Service:
    """How one provider is talked to. ``routes`` are tried in order, each once, the first that works
    is kept; times are in seconds, None for no limit.
    """

    routes: tuple[Route, ...] = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)
    spare: bool = False
    """Whether a second connection may be kept open behind the one in use."""
    warm_up: bool = True
    """Whether to let the server read instructions and tools ahead (``generate: false``)."""
    lifetime_seconds: float | None = None
    idle_seconds: float | None = None
    instructions_as_item: bool = True
    """Whether instructions begin the input of a conversation over WebSocket."""
    compress: bool = False
    """Whether requests over HTTP are sent compressed (gzip)."""
    quirks: Quirks = field(default_factory=Quirks)
