"""Warming up: the server reads instructions and tools ahead of the first prompt (``generate: false``)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from session.link.optional_fields import OptionalFields
from session.protocol.events import CONTENT, ServerError
from session.protocol.increment import Exchange
from session.protocol.request import RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem
from session.transport.links import Link
from session.transport.refusals import Refusal, from_server
from session.transport.service import Service

NO_WARM_UP = "no_warm_up"
"""The code of the error for a server that answers a warm-up, or is silent about it."""
_TIMEOUT = 15.0
_LOSSES_ALLOWED = 2


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
    decoder = ResponseDecoder()
    try:
        quirks = optional.quirks(profile.model)
        frame = encode_create(optional.adapted(profile), (), generate=False, quirks=quirks)
    except ValueError:
        return Warmed(None)  # ``respond`` will say so to the one who can mend it
    try:
        await link.send(frame)
        async with asyncio.timeout(_TIMEOUT):
            while not decoder.finished:
                for received in await link.receive() or ():
                    for event in decoder.feed(received):
                        if isinstance(event, ServerError):
                            raise Refusal(event)
                        if isinstance(event, CONTENT):
                            raise TimeoutError  # it ignores ``generate`` and answers: stop it
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
    return Warmed(Exchange(profile, (), decoder.response_id))


class WarmUps:
    """Warms up links to one server, and learns whether it supports that. ``given`` counts the ids."""

    def __init__(self, service: Service, optional: OptionalFields) -> None:
        self.worth_it = service.warm_up
        self.given = 0
        self._optional = optional
        self._losses = 0

    async def warm(self, link: Link, endpoint: Endpoint, profile: RequestProfile) -> Exchange | None:
        """What to continue from on ``link``. Raises as :func:`warm_up` does."""
        try:
            warmed = await warm_up(link, endpoint, profile, self._optional)
        except LinkError as error:
            if not error.lasting:
                self._losses += 1
                self.worth_it = error.code != NO_WARM_UP and self._losses < _LOSSES_ALLOWED
            raise
        self.worth_it = warmed.known
        self.given += warmed.exchange is not None
        return warmed.exchange
