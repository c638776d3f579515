"""One request on one channel, and the events of its answer.

How much one answer may be: a server that never ends one fills neither memory nor the disk.

An open link, with what a request on it may continue from.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Self, TypeVar

from session.wire.link.refused_parts import OptionalFields
from session.wire.protocol.dialects import FIM_NAMES, Decoder, dialect, origin
from session.wire.protocol.efforts import EFFORT_ITEM_DIALECTS, EffortChange, with_efforts
from session.wire.protocol.events import (
    CONTENT,
    Created,
    Finished,
    Garbled,
    ReasoningDelta,
    ServerError,
    TextDelta,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.frames import write_body
from session.wire.protocol.items import Item, Sent, readable
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.responses import ResponseDecoder, encode_create
from session.wire.protocol.sendable import Exchange, increment, sendable
from session.wire.protocol.thoughts import ThoughtsApart
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.links import Link
from session.wire.transport.refusals import Refusal
from session.wire.transport.service import Route, Transport


@dataclass(eq=False, slots=True)
class Channel:
    """An open link to ``endpoint`` by ``route``; ``number`` is its name in the lifecycle."""

    number: int
    link: Link
    route: Route
    endpoint: Endpoint
    unread: deque[bytes] = field(default_factory=deque)
    """Frames of the answer that have come and were not read yet."""
    last: Exchange | None = None
    """The exchange that the next request may continue from."""
    ahead: object = None
    """The request whose conversation was last sent ahead, before its prompt."""
    reading: asyncio.Task[None] | None = None
    """The wait for the server to have read it; the channel carries no other request meanwhile."""


TOO_LONG = "answer_too_long"
"""The code of an answer that was given up for its length. It is not asked for again."""
MOST_BYTES = 1024 * 1024 * 1024
"""Bytes of the frames of one answer: two million tokens, each in a frame of 500 bytes."""
MOST_TEXT = 16_000_000
"""Characters of one answer's text, reasoning and tool input together: three million tokens."""


class AnswerSize:
    """The size of one answer so far. What it adds raises :class:`LinkError` where that is too much."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._bytes = self._text = 0

    def add_frames(self, frames: Sequence[bytes]) -> None:
        """Count frames that have come."""
        self._bytes += sum(map(len, frames))
        if self._bytes > MOST_BYTES:
            raise self._error(f"{MOST_BYTES:,} bytes")

    def add_events(self, events: Sequence[WireEvent]) -> None:
        """Count the text of events that are passed on."""
        self._text += sum(len(event.text) for event in events if isinstance(event, CONTENT))
        if self._text > MOST_TEXT:
            raise self._error(f"{MOST_TEXT:,} characters")

    def _error(self, most: str) -> LinkError:
        message = f"{self._host} sent an answer of more than {most} without an end, so reading it stopped."
        return LinkError(LinkProblem.SERVER, message, code=TOO_LONG)


T = TypeVar("T")

PIECE = 2_048
"""Longest text of one event, in characters: finding edits in it takes some milliseconds."""
BATCH = 8_192
"""Bytes of short frames from which on a batch is whole: their text passes through every layer above once."""
SLICE_SECONDS = 0.0005
"""Longest time in which an answer that is already here is read without the event loop getting a turn."""


@dataclass(frozen=True, slots=True)
class Written:
    """A request as it goes out on one channel, and the decoder for its answer."""

    frame: str
    """Empty where an answer begins without a request of its own."""
    decoder: Decoder
    other_effort: bool = False
    """Whether it continues a conversation with another effort."""
    whole: bool = True
    """Whether it holds the full input."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: the profile and the full input."""

    profile: RequestProfile
    items: tuple[Item, ...]
    route: Route | None = None
    """The route of a request beside the answers; None for theirs."""
    at_once: bool = False
    """Whether such a request need not wait for a quiet moment where no answer runs."""
    efforts: tuple[EffortChange, ...] = ()
    """Where the effort changes in the input."""

    def is_known_on(self, channel: Channel) -> bool:
        """Whether the server already has the whole input on ``channel``."""
        return channel.last is not None and channel.last.input[: len(self.items)] == self.items

    def with_one_effort(self, items: tuple[Item, ...] | None = None) -> Request:
        """The request, or one for ``items``, with its effort in the field alone."""
        profile = self.profile
        if self.efforts:
            profile = replace(profile, effort=self.efforts[-1].effort)
        return replace(self, profile=profile, items=self.items if items is None else items, efforts=())

    def written_for(self, channel: Channel, optional: OptionalFields, *, generate: bool = True) -> Written:
        """The request as it goes out on ``channel``, without what ``optional`` says the server refused.
        Over WebSocket, without ``generate`` the server only reads it.

        Raises ValueError for what cannot be written as JSON.
        """
        quirks, profile = optional.quirks(self.profile.model), optional.adapted(self.profile)
        if channel.route.transport is Transport.WEBSOCKET:
            part = increment(
                channel.last,
                self.profile,
                self.items,
                efforts=self.efforts,
                same_effort=optional.keeps_effort(profile.model),
            )
            previous, asked = part.previous_response_id, origin("responses", profile)
            new = with_efforts(self.items, self.efforts, len(self.items) - len(part.items))
            items = _fit(new, profile, "responses", whole=previous is None)
            frame = encode_create(
                profile, items, previous_response_id=previous, generate=generate, quirks=quirks
            )
            changed = channel.last is not None and channel.last.profile.effort != profile.effort
            return Written(
                frame, ResponseDecoder(asked), previous is not None and changed, whole=previous is None
            )
        spoken = dialect(channel.route.dialect)
        if self.efforts and spoken.name not in EFFORT_ITEM_DIALECTS:
            return self.with_one_effort().written_for(channel, optional)
        items = _fit(with_efforts(self.items, self.efforts), profile, spoken.name)
        body = spoken.encode(profile, items)
        return Written(write_body(quirks.apply(body)), spoken.decoder(profile))

    def messages(self, channel: Channel, optional: OptionalFields, items: Sequence[Item]) -> int:
        """How many messages ``items``, the first of the input, become on ``channel``."""
        profile, spoken = optional.adapted(self.profile), dialect(channel.route.dialect)
        within = [change for change in self.efforts if change.at < len(items)]
        body = spoken.encode(profile, _fit(with_efforts(items, within), profile, spoken.name, whole=False))
        return len(body.get("messages", body.get("input", ())))


def _fit(items: Sequence[Sent], profile: RequestProfile, name: str, *, whole: bool = True) -> list[Sent]:
    """``items`` as servers of the dialect ``name`` take them. What stands around a gap is no conversation."""
    mine = readable(items, origin(name, profile))
    return mine if name in FIM_NAMES else sendable(mine, whole=whole, plain_ids=name == "messages")


class Patience:
    """How long a server may be silent in the middle of an answer (``seconds``), and how long it may send
    nothing but signs of life (``empty_seconds``), as it does while a model thinks unseen."""

    def __init__(self, endpoint: Endpoint, seconds: float, empty_seconds: float) -> None:
        self._host = endpoint.host
        self._seconds = seconds
        self._empty_seconds = empty_seconds

    def watch(self, link: Link) -> SilenceWatch:
        """A context that ends ``link`` when the server says nothing for too long."""
        return SilenceWatch(link, self._host, self._seconds, self._empty_seconds)


class SilenceWatch:
    """Ends a link whose server says nothing for too long. Only the time spent in :meth:`wait` counts: what
    reads the answer may be slow.

    One timer serves the whole answer: a timeout for each frame would cost more than decoding it.
    """

    def __init__(self, link: Link, host: str, seconds: float, empty_seconds: float) -> None:
        self._link = link
        self._host = host
        self._seconds = seconds
        self._empty_seconds = empty_seconds
        self._loop = asyncio.get_running_loop()
        self._waiting_since: float | None = None
        self._empty_since = self._loop.time()
        self._expired = ""
        self._timer = self._loop.call_later(min(seconds, empty_seconds), self._look)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()

    async def wait(self, doing: Awaitable[T]) -> T:
        """The result of ``doing``. Raises :class:`LinkError` (``idle_timeout``) when it takes too long."""
        self._waiting_since = self._loop.time()
        try:
            result = await doing
        except LinkError:
            if self._expired:
                raise self._error() from None
            raise
        finally:
            self._waiting_since = None
        if self._expired:
            raise self._error()
        return result

    def heard(self) -> None:
        """A part of the answer has come, and was dealt with."""
        self._empty_since = self._loop.time()

    def _look(self) -> None:
        since, now = self._waiting_since, self._loop.time()
        silent = 0.0 if since is None else now - since
        empty = 0.0 if since is None else now - self._empty_since
        left = min(self._seconds - silent, self._empty_seconds - empty)
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
            return
        self._expired = (
            f"sent nothing for {self._seconds:g} s. The request timed out."
            if silent >= self._seconds
            else f"sent signs of life for {self._empty_seconds:g} s, and nothing of its answer. "
            "The request was given up."
        )
        self._link.abort()

    def _error(self) -> LinkError:
        return LinkError(LinkProblem.CLOSED, f"{self._host} {self._expired}", code="idle_timeout")


async def exchange(
    channel: Channel, request: Request, written: Written, patience: Patience
) -> AsyncGenerator[list[WireEvent], None]:
    """Send the request as ``written`` and give the events of the answer in batches, as they come. The last is
    ``Finished``; the channel then knows what its next request may continue from.

    Raises :class:`LinkError`, also for an answer that is too long (``bounds.py``), or :class:`Refusal` where
    the server answers with an error.
    """
    link, decoder, clock = channel.link, written.decoder, asyncio.get_running_loop().time
    if channel.route.dialect not in FIM_NAMES:
        decoder = ThoughtsApart(decoder)
    unread, size = channel.unread, AnswerSize(channel.endpoint.host)
    with patience.watch(link) as watch:
        if written.frame:
            unread.clear()
            await watch.wait(link.send(written.frame))
        del written  # it is as large as the conversation, and the answer may take long
        began = clock()
        while not decoder.finished:
            received = () if unread else await watch.wait(link.receive())
            size.add_frames(received or unread)
            unread.extend(received or ())
            for batch in _ended(channel, decoder) if received is None else _batches(decoder, unread):
                size.add_events(batch)
                _settle(channel, request, batch[-1])
                yield batch
                if any(map(_means_something, batch)):
                    watch.heard()
                if clock() - began > SLICE_SECONDS:
                    await asyncio.sleep(0)
                    began = clock()


def _ended(channel: Channel, decoder: Decoder) -> list[list[WireEvent]]:
    """The last events when the stream ends. Raises :class:`LinkError` if the answer is not complete."""
    events = decoder.end()
    if not decoder.finished:
        message = f"{channel.endpoint.host} ended the stream before the answer was complete."
        raise LinkError(LinkProblem.CLOSED, message)
    return [[event] for event in events]


def _batches(decoder: Decoder, frames: deque[bytes]) -> Iterator[list[WireEvent]]:
    """The events of ``frames``, which are taken out: those of short frames together, others one by one, long
    ones in pieces."""
    batch: list[WireEvent] = []
    size = 0
    while frames:
        frame = frames.popleft()
        events = decoder.feed(frame)
        alone = decoder.finished or len(frame) > PIECE
        if not alone:
            batch += events
            size += len(frame)
        if batch and (alone or size >= BATCH):
            yield joined(batch)
            batch, size = [], 0
        if alone:
            yield from ([piece] for event in events for piece in pieces(event))
    if batch:
        yield joined(batch)


def joined(batch: list[WireEvent]) -> list[WireEvent]:
    """``batch`` with the pieces of one text that are behind each other as one piece."""
    out: list[WireEvent] = []
    for _, group in groupby(batch, _text_of):
        first, *more = group
        if more and isinstance(first, TextDelta | ReasoningDelta | ToolInputDelta):
            text = "".join(each.text for each in (first, *more) if isinstance(each, type(first)))
            first = replace(first, text=text)
        out.append(first)
    return out


def _text_of(event: WireEvent) -> object:
    """What is equal for pieces of one text, and for no other events."""
    if isinstance(event, ToolInputDelta):
        return event.item_id, event.call_id, event.name, event.custom
    return type(event) if isinstance(event, TextDelta | ReasoningDelta) else id(event)


def _means_something(event: WireEvent) -> bool:
    """Whether an event is a part of an answer, and not only a sign of life."""
    if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta):
        return bool(event.text)
    return not isinstance(event, Created | Garbled)


def _settle(channel: Channel, request: Request, event: WireEvent) -> None:
    """Keep what the next request may continue from. Raises :class:`Refusal` for an error."""
    if isinstance(event, ServerError):
        channel.last = None  # an error evicts what the request referred to
        raise Refusal(event)
    if isinstance(event, Finished):
        done = event.status == "completed"
        last = Exchange(request.profile, request.items, event.response_id, event.output, request.efforts)
        channel.last = last if done else None


def pieces(event: WireEvent) -> list[WireEvent]:
    """``event``, with a long text cut into pieces."""
    if not isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta) or len(event.text) <= PIECE:
        return [event]
    return [replace(event, text=event.text[at : at + PIECE]) for at in range(0, len(event.text), PIECE)]
