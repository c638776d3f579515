"""Warming up: the server reads instructions and tools ahead of the first prompt.

Over WebSocket a request with ``generate: false`` gives an id to continue from. Over HTTP the Messages dialect
asks for an answer of no tokens, which fills the cache that the first prompt reads.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from session.wire.link.exchange import Channel, Request
from session.wire.link.refused_parts import OptionalFields
from session.wire.protocol.dialects import Decoder, dialect
from session.wire.protocol.events import CONTENT, Finished, ServerError
from session.wire.protocol.frames import write_body
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.responses import ResponseDecoder, encode_create
from session.wire.protocol.sendable import Exchange
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import Link, PostingLink
from session.wire.transport.refusals import Refusal, from_server
from session.wire.transport.service import Route, Service, Transport

NO_WARM_UP = "no_warm_up"
"""The code of the error for a server that answers a warm-up, or is silent about it."""
_TIMEOUT = 15.0
_LOSSES_ALLOWED = 2
_WORTH_SENDING = 8_000
"""The shortest request, in characters, that is worth sending ahead."""
_CACHED_SECONDS = 240.0
"""How long after a warm-up over HTTP another one would only read what the first one wrote: servers keep it
for five minutes."""


@dataclass(frozen=True, slots=True)
class Warmed:
    """The exchange to continue from, None on a link that stays cold. ``known`` is false where another
    warm-up is not worth the try."""

    exchange: Exchange | None
    known: bool = True


async def warm_up(
    link: Link, endpoint: Endpoint, profile: RequestProfile, optional: OptionalFields
) -> Warmed:
    """Send the beginning of every request, and wait for an id to continue from.

    Raises :class:`LinkError` if the key or the model is refused, or the link is lost or (with code
    ``no_warm_up``) of no more use.
    """
    try:
        quirks = optional.quirks(profile.model)
        frame = encode_create(optional.adapted(profile), (), generate=False, quirks=quirks)
    except ValueError:
        return Warmed(None)  # ``respond`` will say so to the one who can mend it
    try:
        identity = await _read(link, frame, ResponseDecoder())
    except Refusal as refusal:
        if optional.learn(refusal.error, profile):
            return await warm_up(link, endpoint, profile, optional)
        error = from_server(refusal.error, endpoint, profile.model)
        if error.lasting:
            raise error from None
        # A limit may pass; anything else means that this server knows no warm-up.
        return Warmed(None, known=error.retry_after is not None or error.status == 429)
    except TimeoutError:
        message = f"{endpoint.host} does not support warm-ups; reconnecting without one"
        raise LinkError(LinkProblem.CLOSED, message, code=NO_WARM_UP) from None
    return Warmed(Exchange(profile, (), identity))


async def _read(link: Link, frame: str, decoder: Decoder) -> str:
    """Send ``frame``, wait until the server has read it, and return the id to continue from.

    Raises :class:`Refusal`; TimeoutError for a server that answers it, or is silent for too long.
    """
    identity = ""
    await link.send(frame)
    async with asyncio.timeout(_TIMEOUT):
        while not decoder.finished:
            for received in await link.receive() or ():
                for event in decoder.feed(received):
                    if isinstance(event, ServerError):
                        raise Refusal(event)
                    if isinstance(event, CONTENT):
                        raise TimeoutError  # it ignores ``generate`` and answers: stop it
                    if isinstance(event, Finished):
                        identity = event.response_id
    return identity


async def read_ahead(channel: Channel, request: Request, optional: OptionalFields) -> None:
    """Have the server read a conversation before its next prompt, so that only that is left to send.

    Nothing is sent where little is left. The channel is cut where the server would answer; an error of the
    server's costs what the channel could continue from, and is told to the prompt.
    """
    try:
        written = request.written_for(channel, optional, generate=False)
        if len(written.frame) >= _WORTH_SENDING:
            identity = await _read(channel.link, written.frame, written.decoder)
            channel.last = Exchange(request.profile, request.items, identity, efforts=request.efforts)
    except ValueError:
        pass  # ``respond`` will say so to the one who can mend it
    except Refusal:
        channel.last = None
    except (LinkError, TimeoutError):
        channel.link.abort()
    finally:
        channel.reading = None


async def fill_cache(
    link: PostingLink, endpoint: Endpoint, route: Route, profile: RequestProfile, optional: OptionalFields
) -> bool:
    """Have the server cache the beginning of every request; false where it knows no such thing.

    Raises :class:`LinkError` if the key or the model is refused, or the link is lost.
    """
    encode = dialect(route.dialect).encode_warm_up
    if encode is None:
        return False
    try:
        frame = write_body(optional.quirks(profile.model).apply(encode(profile)))
    except ValueError:
        return True  # ``respond`` will say so to the one who can mend it
    try:
        async with asyncio.timeout(_TIMEOUT):
            await link.post(frame)
    except Refusal as refusal:
        error = from_server(refusal.error, endpoint, profile.model)
        if error.kind in (LinkProblem.UNAUTHORIZED, LinkProblem.MODEL, LinkProblem.PLAN):
            raise error from None
        return error.retry_after is not None or error.status == 429
    except TimeoutError:
        message = f"{endpoint.host} did not answer the warm-up; reconnecting without one"
        raise LinkError(LinkProblem.CLOSED, message, code=NO_WARM_UP) from None
    return True


class WarmUps:
    """Warms up links to one server, and learns whether it supports that. ``given`` counts the ids."""

    def __init__(self, service: Service, optional: OptionalFields) -> None:
        self.given = 0
        self._worth_it = service.warm_up
        self._optional = optional
        self._losses = 0
        self._filled: float | None = None
        """When a cache was filled last."""

    def can_read_ahead(self, channel: Channel, request: Request) -> bool:
        """Whether the server would read the conversation of ``request`` ahead on ``channel``."""
        knows = self._worth_it and self.given > 0 and channel.route.transport is Transport.WEBSOCKET
        free = channel.reading is None and channel.ahead is not request and channel.link.is_open
        return knows and free and not request.is_known_on(channel)

    def worth(self, route: Route) -> bool:
        """Whether to warm up a link that has just opened."""
        if not self._worth_it or route.transport is Transport.WEBSOCKET:
            return self._worth_it
        fresh = self._filled is not None and _now() - self._filled < _CACHED_SECONDS
        return dialect(route.dialect).encode_warm_up is not None and not fresh

    async def warm(self, channel: Channel, profile: RequestProfile) -> Exchange | None:
        """What to continue from on ``channel``. Raises as :func:`warm_up` does."""
        try:
            warmed = await self._warm(channel, profile)
        except LinkError as error:
            if not error.lasting:
                self._losses += 1
                self._worth_it = error.code != NO_WARM_UP and self._losses < _LOSSES_ALLOWED
            raise
        self._worth_it = warmed.known
        self.given += warmed.exchange is not None
        return warmed.exchange

    async def _warm(self, channel: Channel, profile: RequestProfile) -> Warmed:
        link, endpoint = channel.link, channel.endpoint
        if not isinstance(link, PostingLink):
            return await warm_up(link, endpoint, profile, self._optional)
        self._filled = _now()
        return Warmed(None, await fill_cache(link, endpoint, channel.route, profile, self._optional))


def _now() -> float:
    return asyncio.get_running_loop().time()
