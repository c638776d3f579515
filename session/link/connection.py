"""The connection to a model: open and warm before it is needed, kept across turns, replaced when lost.

A caller asks :meth:`Connection.respond` with the full input each time; what goes over the wire is only
what is new, whenever that is legal. Failures that may pass are tried again; behind it a keeper
(``keeper.py``) sees to it that an answer seldom waits for a handshake. Everything runs on one event
loop and needs no lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

from session.link.attempt import MANY, Answer, Patience, explained, request_on
from session.link.keeper import Keeper
from session.link.line import Line
from session.link.retries import TOO_OLD, Retries, Tries
from session.link.side_requests import Asides
from session.link.sleep_clock import slept_seconds
from session.link.state import Backoff, LinkChange, LinkState
from session.link.warming import CONTENT
from session.protocol.events import (
    Created,
    Finished,
    Garbled,
    ServerError,
    WireEvent,
)
from session.protocol.increment import Exchange
from session.protocol.items import Item
from session.protocol.request import RequestProfile
from session.transport.endpoint import Endpoint, Login
from session.transport.errors import NO_SUCH_PATH, LinkError, LinkProblem
from session.transport.hosted_server import Host
from session.transport.links import OPEN_TIMEOUT
from session.transport.network import Judge, standing
from session.transport.refusals import Refusal, from_server
from session.transport.service import Service, Transport

__all__ = [
    "Connection",
    "Endpoint",
    "Item",
    "LinkError",
    "LinkProblem",
    "Login",
    "RequestProfile",
    "Retries",
    "Service",
]

IDLE_TIMEOUT = 300.0
_LOSSES_BEFORE_FALLING_BACK = 3
"""Lost WebSockets in one answer after which something on the way is taken not to let them through."""


class Connection:
    """A link to one endpoint. Assign ``request`` to change model, tools or instructions for what follows.

    Attributes for measuring, all of the last ``respond``: ``last_request_bytes`` (UTF-8, as sent),
    ``first_event_seconds`` and ``first_token_seconds`` (from the call; None before), and over the
    connection's life ``garbled`` (frames that were no events), ``dials``, ``warm_ups``, ``promotions``.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        request: RequestProfile,
        *,
        service: Service | None = None,
        open_timeout: float = OPEN_TIMEOUT,
        idle_timeout: float = IDLE_TIMEOUT,
        backoff: Backoff | None = None,
        retries: Retries | None = None,
        slept: Callable[[], float] = slept_seconds,
        judge: Judge = standing,
        login: Login | None = None,
        host: Host | None = None,
    ) -> None:
        """``host`` starts a server of our own, and says its address in place of ``endpoint``."""
        self._request = request
        self._given = endpoint
        self._patience = Patience(endpoint, idle_timeout)
        self._retries = retries or Retries()
        self._keeper = Keeper(
            endpoint,
            service or Service(),
            lambda: self._request,
            open_timeout=open_timeout,
            backoff=backoff or Backoff(),
            slept=slept,
            judge=judge,
            login=login or Login(),
            host=host,
        )
        self._asides = Asides(self._keeper, self._patience, self._retries, open_timeout)
        self._answer: Answer | None = None
        self._closed = False
        self.last_request_bytes = 0
        self.first_event_seconds: float | None = None
        self.first_token_seconds: float | None = None
        self.garbled = 0

    @property
    def endpoint(self) -> Endpoint:
        """The server, and the key in use."""
        return self._keeper.endpoint

    @property
    def state(self) -> LinkState:
        """Where the link is now; never ``waiting``, which is said by :meth:`states` alone."""
        return self._keeper.feed.change.state

    @property
    def dials(self) -> int:
        """Connections tried so far."""
        return self._keeper.dials

    @property
    def warm_ups(self) -> int:
        """Warm-ups that gave an id to continue from."""
        return self._keeper.warm_ups

    @property
    def promotions(self) -> int:
        """How often the spare has taken the active connection's place."""
        return self._keeper.promotions

    @property
    def times(self) -> tuple[float | None, float | None]:
        """Seconds of the last upgrade, and of a message to the server and back; None where unknown."""
        line = self._keeper.active
        return self._keeper.upgrade_seconds, line.link.round_trip_seconds if line is not None else None

    @property
    def way(self) -> str:
        """How requests go out now, in words: "Responses over WebSocket"."""
        return str(self._keeper.route)

    @property
    def has_spare(self) -> bool:
        """Whether a second connection stands ready behind the active one."""
        return self._keeper.spare is not None

    @property
    def request(self) -> RequestProfile:
        """Everything of the requests but their input."""
        return self._request

    @request.setter
    def request(self, profile: RequestProfile) -> None:
        self._request = profile
        if self.state is LinkState.FAILED:
            self._keeper.try_again()

    def use(self, endpoint: Endpoint) -> None:
        """Ask ``endpoint`` from now on; a new connection is opened where it differs from the one in use.
        To be called between answers. A key that was renewed meanwhile is kept for the one it stands for."""
        before, self._given = self._given, endpoint
        if endpoint == before:
            return
        if endpoint.api_key == before.api_key:
            endpoint = dataclasses.replace(endpoint, api_key=self.endpoint.api_key)
        self._keeper.use(endpoint)

    def start(self) -> None:
        """Begin to connect and warm up in the background. Needs a running loop; may be repeated."""
        if not self._closed:
            self._keeper.start()

    def wake(self) -> None:
        """A request is likely soon (the user types): have a connection ready. Cheap; may be repeated."""
        if not self._closed:
            self._keeper.start()
            self._keeper.wake()

    def states(self) -> AsyncIterator[LinkChange]:
        """The state now, and every change from now on, until :meth:`close`."""
        return self._keeper.feed.follow()

    async def respond(self, items: Sequence[Item]) -> AsyncGenerator[WireEvent, None]:
        """Ask for the answer to ``items``, the full input, and give its events as they come.

        The last event is :class:`Finished` (``completed`` or ``incomplete``). After :meth:`drop` the
        events end at once without one. Leaving the loop early drops the answer too, and so does
        asking again: a generator that was left is not always finalised at once. A second
        :class:`Created` means that the first attempt was lost before it said anything.

        What may pass is tried again before anything was given (``retries.py``); the states say
        ``waiting`` meanwhile. Raises :class:`LinkError`; ValueError for what cannot be written as
        JSON; RuntimeError after :meth:`close`.
        """
        if self._closed:
            raise RuntimeError("the connection is closed")
        self.drop()
        self.wake()
        self._asides.give_way()
        answer = self._answer = Answer()
        self._keeper.busy = True
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
            if answer.line is not None:  # left in the middle: the server must not go on for nobody
                self._keeper.retire(answer.line)
            if self._answer is answer:
                self._over()

    def aside(self, profile: RequestProfile, items: Sequence[Item]) -> AsyncGenerator[WireEvent, None]:
        """Ask something beside the running answer, which it neither delays nor stops (``asides.py``).

        ``items`` is the whole input. The last event is :class:`Finished`, whose ``output`` is what to rely
        on: an attempt that was lost is made again, and a :class:`Created` says that what came before
        it does not count. Close the generator to give it up. No state is said of it, and after
        :meth:`close` it ends without a ``Finished``. Raises as :meth:`respond` does.
        """
        if self._closed:
            raise RuntimeError("the connection is closed")
        return self._asides.ask(profile, tuple(items))

    def drop(self) -> None:
        """Stop the running answer now: its socket is closed before this returns, no event follows.

        The spare connection is in its place when this returns, where the service allows one; else a
        new one is opened and warmed at once. A wait for the next attempt ends. Without a running
        answer this does nothing: the connection in hand is as good as a new one.
        """
        answer = self._answer
        if answer is None:
            return
        self._over()
        line, answer.line = answer.line, None
        if line is not None:
            self._keeper.retire(line)
        answer.drop()

    async def pause(self, seconds: float, message: str) -> None:
        """Say ``waiting`` for ``seconds``; cancelling the caller ends it."""
        self._keeper.feed.wait(seconds, message)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._keeper.feed.resume()

    async def close(self) -> None:
        """End everything; the state becomes ``offline`` and :meth:`states` ends. May be repeated."""
        if self._closed:
            return
        self.drop()
        self._closed = True
        await self._asides.close()
        await self._keeper.close()

    # -- one answer ----------------------------------------------------------------------------

    def _over(self) -> None:
        self._answer = None
        self._asides.go_on()
        self._keeper.busy = False
        self._keeper.used()

    async def _attempts(self, answer: Answer, items: tuple[Item, ...]) -> AsyncGenerator[WireEvent, None]:
        """The answer's events, over as many attempts as the failures' kinds allow."""
        tries = Tries(self._retries)
        losses = 0
        while not answer.dropped():
            line: Line | None = None
            begun = False
            try:
                line = await self._usable(answer)
                if line is None:
                    return
                async with contextlib.aclosing(self._exchange(answer, line, items)) as events:
                    async for event in events:
                        begun = begun or not isinstance(event, Created | Garbled)
                        yield event
                return
            except Refusal as refusal:
                problem = from_server(refusal.error, self.endpoint, self._request.model)
                if line is not None:
                    line.last = None  # an error evicts what it referred to
                    if problem.code == TOO_OLD:
                        self._keeper.retire(line)
            except LinkError as error:
                problem = error
                if not answer.dropped() and problem.kind is LinkProblem.CLOSED:
                    losses += self._keeper.route.transport is Transport.WEBSOCKET
                if line is not None and not answer.dropped():
                    self._keeper.retire(line)
                    problem = await self._keeper.why_lost(error)
            answer.line = None
            if answer.dropped():
                return
            if begun:
                raise problem
            if tries.at_once(problem, asked=line is not None):
                continue
            unsolved = await self._keeper.renew(problem)
            if unsolved is None:
                continue
            problem = unsolved
            if self._falls_back(problem, losses):
                losses = 0
                continue
            wait = tries.wait(problem)
            if wait is None:
                raise await explained(problem, self._retries, self.endpoint)
            if not await self._wait(answer, wait, problem):
                return

    def _falls_back(self, problem: LinkError, losses: int) -> bool:
        """Whether another way of asking is taken from now on because of ``problem``."""
        if problem.code == NO_SUCH_PATH or problem.kind is LinkProblem.NO_WEBSOCKET:
            return self._keeper.fall_back(str(problem.status or "refused"))
        if losses >= _LOSSES_BEFORE_FALLING_BACK and problem.kind is LinkProblem.CLOSED:
            return self._keeper.fall_back("lost again and again")
        return False

    async def _wait(self, answer: Answer, seconds: float, problem: LinkError) -> bool:
        """Sit out ``seconds``, saying so; false if the answer is dropped meanwhile."""
        answer.waiter = asyncio.get_running_loop().create_future()
        self._keeper.feed.wait(seconds, problem.message)
        try:
            async with asyncio.timeout(seconds):
                await answer.waiter
        except TimeoutError:
            return not answer.dropped()
        finally:
            answer.waiter = None
            self._keeper.feed.resume()
        return False

    async def _usable(self, answer: Answer) -> Line | None:
        """An open line, as soon as there is one; None if the answer is dropped first."""
        while not answer.dropped():
            line = self._keeper.active
            if line is not None and line.link.is_open:
                return line
            answer.waiter = self._keeper.wanted()
            try:
                line = await answer.waiter
                if line is None or line.link.is_open:
                    return line
                message = f"{self.endpoint.host} closed the connection as soon as it was open."
                raise LinkError(LinkProblem.CLOSED, message)
            finally:
                self._keeper.unwanted(answer.waiter)
                answer.waiter = None
        return None

    async def _exchange(
        self, answer: Answer, line: Line, items: tuple[Item, ...]
    ) -> AsyncGenerator[WireEvent, None]:
        """One request on ``line`` and the events of its response."""
        profile, shared = self._request, line.shared
        frame, decoder = request_on(line, profile, items, self._keeper.service.quirks)
        self.last_request_bytes = len(frame.encode("utf-8"))
        await shared.drain()
        answer.line = line
        if answer.dropped():
            return
        patience = self._patience
        await patience.wait(shared.send(frame))
        while not decoder.finished:
            received = await patience.wait(shared.receive())
            if answer.dropped():
                return
            events = patience.read(decoder, received)
            for event in events:
                if isinstance(event, Garbled):
                    self.garbled += 1
                elif isinstance(event, ServerError):
                    raise Refusal(event)
                elif isinstance(event, Finished):
                    done = event.status == "completed"
                    last = Exchange(profile, items, event.response_id, event.output)
                    line.last = last if done else None
                    line.answered = True
                    self._keeper.answered()
                    answer.line = None
                yield event
                if len(events) > MANY:
                    await asyncio.sleep(0)
                if answer.dropped():
                    return
