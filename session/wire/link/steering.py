"""Sends a prompt to an answer that still runs, and gives the next answer: the shell around ``steer.py``."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

from session.wire.link.exchange import Channel, Patience, Request, Written, exchange
from session.wire.link.refused_parts import OptionalFields
from session.wire.link.steer import Stage, Steer, Words, words
from session.wire.protocol.dialects import origin
from session.wire.protocol.events import Steered, WireEvent
from session.wire.protocol.responses import ResponseDecoder, encode_create
from session.wire.transport.errors import LinkError

PATIENCE = 0.5
"""Seconds that the server gets to come to the prompt: it ends the item that it is writing first, which is
paid for. After that the connection is cut, as by an interrupt: a person would notice a longer wait, and to
ask on the spare connection takes about one round trip."""


class NotSteered(Exception):
    """The prompt has to be asked anew, on another connection."""


@dataclass(slots=True)
class Held:
    """An answer that runs on unseen on ``channel``, for its next prompt to steer it."""

    channel: Channel
    request: Request
    decoder: ResponseDecoder
    steer: Steer = field(init=False)

    def __post_init__(self) -> None:
        self.steer = Steer(self.decoder)

    def takes(self, request: Request) -> Words | None:
        """What ``request`` adds to the answer's conversation; None where it cannot steer it."""
        same = request.profile == self.request.profile and request.efforts == self.request.efforts
        if not same or not self.channel.link.is_open:
            return None
        return words(self.request.items, request.items)


def steered(
    held: Held, said: Words, request: Request, optional: OptionalFields, patience: Patience
) -> tuple[Written, AsyncGenerator[list[WireEvent], None]]:
    """The steer that tells the answer ``held`` what ``request`` adds, and the events of the next answer.

    They raise :class:`NotSteered` before the first of them, and what ``exchange`` raises.
    """
    decoder = ResponseDecoder(origin("responses", request.profile))
    written = Written(said.steer(held.steer.response_id), decoder)
    return written, _events(held, said, request, written, optional, patience)


async def _events(
    held: Held,
    said: Words,
    request: Request,
    written: Written,
    optional: OptionalFields,
    patience: Patience,
) -> AsyncGenerator[list[WireEvent], None]:
    steer = held.steer
    try:
        async with asyncio.timeout(PATIENCE):
            await _await_turn(held, said, request, written.frame, optional)
    except (TimeoutError, LinkError):
        steer.lose()
    if steer.refused_as:
        optional.refuse_steer(request.profile.model)
    if steer.stage is Stage.LOST:
        raise NotSteered
    yield [Steered(steer.unread)]
    free = steer.stage is Stage.FREE
    frame = _continuing(held, said, request, optional) if free else ""
    attempt = exchange(held.channel, request, replace(written, frame=frame), patience)
    async with contextlib.aclosing(attempt) as batches:
        async for batch in batches:
            yield batch


async def _await_turn(
    held: Held, said: Words, request: Request, frame: str, optional: OptionalFields
) -> None:
    """Steer, and return once it is clear which answer follows, if any."""
    link, steer = held.channel.link, held.steer
    with contextlib.suppress(TimeoutError):  # what has come by now
        async with asyncio.timeout(0):
            await _read(held)
    if steer.stage is Stage.RUNNING:
        await link.send(frame)
        steer.send()
    owed = False
    while steer.stage not in (Stage.FREE, Stage.FOLLOWED, Stage.LOST):
        if steer.stage is Stage.OWING and not owed:
            owed = True
            await link.send(_continuing(held, said, request, optional))
        await _read(held)


async def _read(held: Held) -> None:
    """Read the frames that have come, at least one. Those of the successor stay for its own decoder."""
    channel, steer = held.channel, held.steer
    if not channel.unread:
        channel.unread.extend(await channel.link.receive() or ())
    while channel.unread:
        steer.read(channel.unread[0])
        if steer.stage is Stage.FOLLOWED:
            return
        channel.unread.popleft()


def _continuing(held: Held, said: Words, request: Request, optional: OptionalFields) -> str:
    """The request that continues the answer: with its calls' outputs alone where the prompt is queued, else
    with the prompt too."""
    steer = held.steer
    queued = steer.stage is Stage.OWING
    items = said.owed(steer.stubs if queued else steer.output) + ([] if queued else list(said.messages))
    return encode_create(
        optional.adapted(request.profile),
        items,
        previous_response_id=steer.response_id,
        quirks=optional.quirks(request.profile.model),
    )
