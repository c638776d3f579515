"""The connection to a model: open and warm before it is needed, kept across turns, replaced when lost.

A caller asks :meth:`Connection.respond` with the full input each time; what goes over the wire is only
what is new, whenever that is legal. Behind it a keeper task dials, warms up, and dials again, so that
an answer seldom waits for a handshake. Everything runs on one event loop and needs no lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from session.link import Backoff, LinkChange, LinkFeed, LinkSignal, LinkState
from session.protocol.events import (
    Created,
    Finished,
    Garbled,
    ServerError,
    WireEvent,
)
from session.protocol.increment import Exchange, increment
from session.protocol.request import Item, RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem
from session.transport.refusals import from_server
from session.transport.websocket import OPEN_TIMEOUT, WebSocketLink
from session.warming import CONTENT, NO_WARM_UP, Refusal, warm_up

__all__ = ["Connection", "Endpoint", "Item", "LinkError", "LinkProblem", "RequestProfile"]

IDLE_TIMEOUT = 300.0
_SETTLED_SECONDS = 10.0
_WARM_LOSSES_ALLOWED = 2
_CHAIN_LOST = "previous_response_not_found"
_TOO_OLD = "websocket_connection_limit_reached"


class _Answer:
    """One call of ``respond``: whether it was dropped, and what it waits for."""

    def __init__(self) -> None:
        self._dropped = False
        self.link: WebSocketLink | None = None
        self.waiter: asyncio.Future[WebSocketLink | None] | None = None

    def drop(self) -> None:
        """Nothing more of this answer is wanted."""
        self._dropped = True

    def dropped(self) -> bool:
        """Whether :meth:`drop` was called; it may be between any two steps."""
        return self._dropped


class Connection:
    """A link to one endpoint. Assign ``request`` to change model, tools or instructions for what follows.

    Attributes for measuring, all of the last ``respond``: ``last_request_bytes`` (UTF-8, as sent),
    ``first_event_seconds`` and ``first_token_seconds`` (from the call; None before), ``garbled``
    (frames that were no events, counted over the connection's life), ``dials`` and ``warm_ups``.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        request: RequestProfile,
        *,
        open_timeout: float = OPEN_TIMEOUT,
        idle_timeout: float = IDLE_TIMEOUT,
        backoff: Backoff | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._request = request
        self._open_timeout = open_timeout
        self._idle_timeout = idle_timeout
        self._backoff = backoff or Backoff()
        self._keeper: asyncio.Task[None] | None = None
        self._link: WebSocketLink | None = None
        self._last: Exchange | None = None
        self._answer: _Answer | None = None
        self._waiters: list[asyncio.Future[WebSocketLink | None]] = []
        self._kick = asyncio.Event()
        self._closed = False
        self._warms_up = True
        self._warm_losses = 0
        self._answered = False
        self._feed = LinkFeed()
        self.last_request_bytes = 0
        self.first_event_seconds: float | None = None
        self.first_token_seconds: float | None = None
        self.garbled = 0
        self.dials = 0
        self.warm_ups = 0

    @property
    def state(self) -> LinkState:
        """Where the link is now."""
        return self._feed.change.state

    @property
    def request(self) -> RequestProfile:
        """Everything of the requests but their input."""
        return self._request

    @request.setter
    def request(self, profile: RequestProfile) -> None:
        self._request = profile
        if self.state is LinkState.FAILED:
            self._kick.set()

    def start(self) -> None:
        """Begin to connect and warm up in the background. Needs a running loop; may be repeated."""
        if self._keeper is None and not self._closed:
            self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="spark-connection")

    def states(self) -> AsyncIterator[LinkChange]:
        """The state now, and every change from now on, until :meth:`close`."""
        return self._feed.follow()

    async def respond(self, items: Sequence[Item]) -> AsyncGenerator[WireEvent, None]:
        """Ask for the answer to ``items``, the full input, and give its events as they come.

        The last event is :class:`Finished` (``completed`` or ``incomplete``). After :meth:`drop` the
        events end at once without one. Leaving the loop early drops the answer too, and so does
        asking again: a generator that was left is not always finalised at once. A second
        :class:`Created` means that the first attempt was lost before it said anything.

        Raises :class:`LinkError`; ValueError for what cannot be written as JSON; RuntimeError
        after :meth:`close`.
        """
        if self._closed:
            raise RuntimeError("the connection is closed")
        self.drop()
        self.start()
        answer = self._answer = _Answer()
        clock = asyncio.get_running_loop().time
        began = clock()
        self.first_event_seconds = self.first_token_seconds = None
        try:
            async with contextlib.aclosing(self._attempts(answer, tuple(items))) as events:
                async for event in events:
                    if self.first_event_seconds is None:
                        self.first_event_seconds = clock() - began
                    if self.first_token_seconds is None and isinstance(event, CONTENT):
                        self.first_token_seconds = clock() - began
                    yield event
        finally:
            if self._answer is answer:
                self._answer = None
            if answer.link is not None:  # left in the middle: the server must not go on for nobody
                self._retire(answer.link)

    def drop(self) -> None:
        """Stop the running answer now: its socket is closed before this returns, no event follows.

        A new connection is opened and warmed in the background at once. Without a running answer
        this does nothing: the connection in hand is as good as a new one.
        """
        answer = self._answer
        if answer is None or answer.dropped():
            return
        answer.drop()
        self._answer = None
        if answer.link is not None:
            link, answer.link = answer.link, None
            self._retire(link)
        if answer.waiter is not None and not answer.waiter.done():
            answer.waiter.set_result(None)

    async def close(self) -> None:
        """End everything; the state becomes ``offline`` and :meth:`states` ends. May be repeated."""
        if self._closed:
            return
        self.drop()
        self._closed = True
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._link is not None:
            await self._link.close()
            self._link = None
        self._feed.close()

    # -- one answer ----------------------------------------------------------------------------

    async def _attempts(self, answer: _Answer, items: tuple[Item, ...]) -> AsyncGenerator[WireEvent, None]:
        """The answer's events, over as many attempts as may go unseen: each way of failing, once."""
        forgiven: set[str] = set()
        while not answer.dropped():
            link = await self._usable(answer)
            if link is None:
                return
            begun = False
            try:
                async with contextlib.aclosing(self._exchange(answer, link, items)) as events:
                    async for event in events:
                        begun = begun or not isinstance(event, Created | Garbled)
                        yield event
                return
            except Refusal as refusal:
                answer.link = None
                self._last = None  # an error evicts what it referred to
                code = refusal.error.code
                if begun or code in forgiven or code not in (_CHAIN_LOST, _TOO_OLD):
                    raise from_server(refusal.error, self.endpoint, self._request.model) from None
                forgiven.add(code)
                if code == _TOO_OLD:
                    self._retire(link)
            except LinkError as error:
                if answer.dropped():
                    return
                answer.link = None
                self._retire(link)
                if begun or error.kind in forgiven or error.code == "idle_timeout":
                    raise
                forgiven.add(error.kind)

    async def _usable(self, answer: _Answer) -> WebSocketLink | None:
        """An open connection, as soon as there is one; None if the answer is dropped first."""
        while self._link is None or not self._link.is_open:
            answer.waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(answer.waiter)
            self._kick.set()
            try:
                if await answer.waiter is None:
                    return None
            finally:
                self._waiters.remove(answer.waiter)
                answer.waiter = None
        return None if answer.dropped() else self._link

    async def _exchange(
        self, answer: _Answer, link: WebSocketLink, items: tuple[Item, ...]
    ) -> AsyncGenerator[WireEvent, None]:
        """One request on ``link`` and the events of its response."""
        profile = self._request
        await link.drain()
        part = increment(self._last, profile, items)
        frame = encode_create(profile, part.items, previous_response_id=part.previous_response_id)
        self.last_request_bytes = len(frame.encode("utf-8"))
        answer.link = link
        await link.send(frame)
        decoder = ResponseDecoder()
        while not decoder.finished:
            received = await self._receive(link)
            if answer.dropped():
                return
            for event in decoder.feed(received):
                if isinstance(event, Garbled):
                    self.garbled += 1
                elif isinstance(event, ServerError):
                    raise Refusal(event)
                elif isinstance(event, Finished):
                    done = event.status == "completed"
                    if self._link is link:
                        last = Exchange(profile, items, event.response_id, event.output)
                        self._last = last if done else None
                    self._answered = True
                    answer.link = None
                yield event
                if answer.dropped():
                    return

    async def _receive(self, link: WebSocketLink) -> bytes:
        try:
            async with asyncio.timeout(self._idle_timeout):
                return await link.receive()
        except TimeoutError:
            message = (
                f"{self.endpoint.host} sent nothing for {self._idle_timeout:g} s: the answer was given up."
            )
            raise LinkError(LinkProblem.CLOSED, message, code="idle_timeout") from None

    def _retire(self, link: WebSocketLink) -> None:
        """Abort ``link``; the keeper opens another at once."""
        link.abort()
        if self._link is link:
            self._link = None
            self._last = None
            self._kick.set()

    # -- the keeper ----------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Dial, warm up, wait until the link is gone, and again, for as long as the connection lives."""
        failures = 0
        while True:
            self._kick.clear()
            self._feed.signal(LinkSignal.DIAL)
            try:
                link = await self._bring_up()
            except LinkError as error:
                failures += 1
                self._feed.signal(LinkSignal.REFUSED if error.lasting else LinkSignal.LOST, error.message)
                self._release(error)
                await self._pause(None if error.lasting else failures)
                continue
            ready = asyncio.get_running_loop().time()
            self._feed.signal(LinkSignal.WARM)
            self._release(link)
            await link.wait_closed()
            ours = link.aborted
            if self._link is link:
                self._link = None
                self._last = None
            lived = asyncio.get_running_loop().time() - ready
            failures = 0 if ours or self._answered or lived > _SETTLED_SECONDS else failures + 1
            self._answered = False
            message = None if ours else f"{self.endpoint.host} closed the connection; connecting again"
            self._feed.signal(LinkSignal.LOST, message)
            await self._pause(failures)

    async def _bring_up(self) -> WebSocketLink:
        """A new connection, warmed up unless an answer is already waiting for it."""
        self.dials += 1
        link = await WebSocketLink.open(self.endpoint, open_timeout=self._open_timeout)
        try:
            self._last = None
            if self._warms_up and not self._waiters:
                self._feed.signal(LinkSignal.OPENED)
                self._last = await self._warm(link)
        except BaseException:
            link.abort()
            raise
        self._link = link
        return link

    async def _warm(self, link: WebSocketLink) -> Exchange | None:
        """Warm ``link`` up, and learn whether this server can be. Raises :class:`LinkError`."""
        try:
            warmed = await warm_up(link, self.endpoint, self._request)
        except LinkError as error:
            if not error.lasting:
                self._warm_losses += 1
                self._warms_up = error.code != NO_WARM_UP and self._warm_losses < _WARM_LOSSES_ALLOWED
            raise
        self._warms_up = warmed.known
        self.warm_ups += warmed.exchange is not None
        return warmed.exchange

    async def _pause(self, failures: int | None) -> None:
        """Wait for the next attempt's time, or until somebody wants it now; None waits for that alone."""
        wait = None if failures is None else self._backoff.wait(failures, random.random)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._kick.wait()

    def _release(self, result: WebSocketLink | LinkError) -> None:
        for waiter in self._waiters:
            if waiter.done():
                continue
            if isinstance(result, LinkError):
                waiter.set_exception(result)
            else:
                waiter.set_result(result)
