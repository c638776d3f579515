"""One request: what asks it waits for, what goes out for it on the line it is given, and how it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from session.link.line import Line
from session.link.retries import Retries, said_when
from session.protocol.dialects import Decoder, dialect
from session.protocol.events import ReasoningDelta, TextDelta, ToolInputDelta, WireEvent
from session.protocol.framing.frames import write_body
from session.protocol.increment import increment
from session.protocol.items import Item
from session.protocol.request import Quirks, RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem
from session.transport.service import Transport

T = TypeVar("T")

PIECE = 2_048
"""Characters of a text that are given on at once: finding edits in them takes some milliseconds."""
MANY = 8
"""Events of one frame above which keys get their turn between any two."""


class Answer:
    """One call of ``respond``: whether it was dropped, and what it waits for."""

    def __init__(self) -> None:
        self._dropped = False
        self.line: Line | None = None
        self.waiter: asyncio.Future[Line | None] | None = None

    def drop(self) -> None:
        """Nothing more of this answer is wanted."""
        self._dropped = True
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def dropped(self) -> bool:
        """Whether :meth:`drop` was called; it may be between any two steps."""
        return self._dropped


def request_on(
    line: Line, profile: RequestProfile, items: tuple[Item, ...], quirks: Quirks
) -> tuple[str, Decoder]:
    """The request as it goes out on ``line``, and what reads its answer. Raises ValueError for what
    cannot be written as JSON."""
    if line.route.transport is Transport.WEBSOCKET:
        part = increment(line.last, profile, items)
        previous = part.previous_response_id
        frame = encode_create(profile, part.items, previous_response_id=previous, quirks=quirks)
        return frame, ResponseDecoder()
    spoken = dialect(line.route.dialect)
    return write_body(quirks.apply(spoken.encode(profile, items))), spoken.decoder()


class Patience:
    """How long a server may say nothing. Raises :class:`LinkError` when it is over."""

    def __init__(self, endpoint: Endpoint, seconds: float) -> None:
        self._host = endpoint.host
        self._seconds = seconds

    async def wait(self, doing: Awaitable[T]) -> T:
        """``doing``, while there is patience."""
        try:
            async with asyncio.timeout(self._seconds):
                return await doing
        except TimeoutError:
            message = f"{self._host} sent nothing for {self._seconds:g} s: the answer was given up."
            raise LinkError(LinkProblem.CLOSED, message, code="idle_timeout") from None

    def read(self, decoder: Decoder, received: bytes | None) -> list[WireEvent]:
        """What one event says. Raises :class:`LinkError` for the end of a stream that is not the answer's."""
        events = decoder.end() if received is None else decoder.feed(received)
        if received is None and not decoder.finished:
            raise LinkError(LinkProblem.CLOSED, f"{self._host} ended its answer before it was whole.")
        if received is not None and len(received) > PIECE:
            return [piece for event in events for piece in pieces(event)]
        return events


def pieces(event: WireEvent) -> list[WireEvent]:
    """``event``, its text cut where there is much of it."""
    if not isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta) or len(event.text) <= PIECE:
        return [event]
    return [replace(event, text=event.text[at : at + PIECE]) for at in range(0, len(event.text), PIECE)]


async def explained(problem: LinkError, retries: Retries, endpoint: Endpoint) -> LinkError:
    """``problem``; about a model, with those that the key can use; about a limit, with its end."""
    more = said_when(problem, retries, datetime.now())
    if problem.kind is LinkProblem.MODEL:
        from session.transport.model_list import list_models, said

        more = said(await list_models(endpoint))
    return problem.saying(more) if more else problem
