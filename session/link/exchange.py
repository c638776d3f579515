"""One request on one channel, and the events of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass, replace
from typing import TypeVar

from session.link.channel import Channel
from session.protocol.dialects import Decoder, dialect
from session.protocol.events import (
    Finished,
    ReasoningDelta,
    ServerError,
    TextDelta,
    ToolInputDelta,
    WireEvent,
)
from session.protocol.framing.frames import write_body
from session.protocol.increment import Exchange, increment
from session.protocol.items import Item
from session.protocol.request import Quirks, RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem
from session.transport.refusals import Refusal
from session.transport.service import Transport

T = TypeVar("T")

PIECE = 2_048
"""The most characters of text given on at once: finding edits in them takes some milliseconds."""
MANY = 8
"""A frame with more events than this lets the event loop run between any two of them."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: the profile and the full input."""

    profile: RequestProfile
    items: tuple[Item, ...]

    def written_for(self, channel: Channel, quirks: Quirks) -> tuple[str, Decoder]:
        """The request as it goes out on ``channel``, and a decoder for its answer.

        Raises ValueError for what cannot be written as JSON.
        """
        if channel.route.transport is Transport.WEBSOCKET:
            part = increment(channel.last, self.profile, self.items)
            previous = part.previous_response_id
            frame = encode_create(self.profile, part.items, previous_response_id=previous, quirks=quirks)
            return frame, ResponseDecoder()
        spoken = dialect(channel.route.dialect)
        return write_body(quirks.apply(spoken.encode(self.profile, self.items))), spoken.decoder()


class Patience:
    """How long a server may be silent in the middle of an answer."""

    def __init__(self, endpoint: Endpoint, seconds: float) -> None:
        self._host = endpoint.host
        self._seconds = seconds

    async def wait(self, doing: Awaitable[T]) -> T:
        """The result of ``doing``. Raises :class:`LinkError` (``idle_timeout``) when it takes too long."""
        try:
            async with asyncio.timeout(self._seconds):
                return await doing
        except TimeoutError:
            message = f"{self._host} sent nothing for {self._seconds:g} s: the answer was given up."
            raise LinkError(LinkProblem.CLOSED, message, code="idle_timeout") from None


async def exchange(
    channel: Channel, request: Request, frame: str, decoder: Decoder, patience: Patience
) -> AsyncGenerator[WireEvent, None]:
    """Send ``frame`` and give the events of the answer; what the channel may continue from is kept in it.

    Raises :class:`LinkError`, or :class:`Refusal` where the server answers with an error.
    """
    link = channel.link
    await patience.wait(link.send(frame))
    while not decoder.finished:
        events = _read(channel, decoder, await patience.wait(link.receive()))
        for event in events:
            if isinstance(event, ServerError):
                channel.last = None  # an error evicts what the request referred to
                raise Refusal(event)
            if isinstance(event, Finished):
                done = event.status == "completed"
                last = Exchange(request.profile, request.items, event.response_id, event.output)
                channel.last = last if done else None
            yield event
            if len(events) > MANY:
                await asyncio.sleep(0)


def _read(channel: Channel, decoder: Decoder, received: bytes | None) -> list[WireEvent]:
    """What one frame says. Raises :class:`LinkError` for a stream that ends before its answer does."""
    if received is None:
        events = decoder.end()
        if not decoder.finished:
            message = f"{channel.endpoint.host} ended its answer before it was whole."
            raise LinkError(LinkProblem.CLOSED, message)
        return events
    events = decoder.feed(received)
    if len(received) > PIECE:
        return [piece for event in events for piece in pieces(event)]
    return events


def pieces(event: WireEvent) -> list[WireEvent]:
    """``event``, its text cut into pieces where there is much of it."""
    if not isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta) or len(event.text) <= PIECE:
        return [event]
    return [replace(event, text=event.text[at : at + PIECE]) for at in range(0, len(event.text), PIECE)]
