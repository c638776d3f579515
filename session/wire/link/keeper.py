"""Does what the lifecycle decides: opens links, warms them up, watches them, and ends them.

This is the only place where the link's sockets, clock and background tasks meet
:class:`~session.wire.link.lifecycle.Lifecycle`. All calls on the event loop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from session.base.tasks import LinkTasks
from session.wire.link.exchange import Channel, Request
from session.wire.link.lifecycle import Lifecycle
from session.wire.link.refused_parts import EFFORT, NONE_WITH_TOOLS, OptionalFields
from session.wire.link.retries import Backoff, KeyRenewal
from session.wire.link.state import Announce, Close, Cut, Dial, Effect, LinkFeed, LinkState, Refuse, Supply
from session.wire.link.warm_up import WarmUps, read_ahead
from session.wire.protocol.events import ServerError
from session.wire.protocol.items import Item
from session.wire.protocol.request import RequestProfile
from session.wire.transport.dial import open_link
from session.wire.transport.endpoint import Endpoint, Login
from session.wire.transport.errors import NO_UPGRADE, LinkError, LinkProblem, one_line
from session.wire.transport.links import Compression, Host, Link, behind
from session.wire.transport.network import Judge, SleepClock
from session.wire.transport.service import Route, Service, Transport

_CONNECT = "connect"
"""The name of the task that makes an attempt to connect."""
_UPGRADES_BEFORE_FALLING_BACK = 3
"""Upgrades in a row without success after which WebSocket is given up where it has worked before."""


class Keeper:
    """Keeps an ``active`` channel ready, and a ``spare`` behind it.

    For measuring: ``dials`` counts the attempts, ``generation`` the times that open sockets became useless.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        service: Service,
        profile: Callable[[], RequestProfile],
        *,
        open_timeout: float,
        backoff: Backoff,
        slept: Callable[[], float],
        judge: Judge,
        login: Login,
        host: Host | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.service = service
        self.feed = LinkFeed()
        self.optional_fields = OptionalFields(service.quirks)
        self.warm_ups = WarmUps(service, self.optional_fields)
        self.compression = Compression(service.compress)
        self.upgrade_seconds: float | None = None
        self._upgrades_lost = 0
        self.dials = 0
        self.generation = 0
        self._life = Lifecycle(service, backoff)
        self._profile = profile
        self._open_timeout = open_timeout
        self._sleep_clock = SleepClock(slept)
        self._judge = judge
        self._renewal = KeyRenewal(login)
        self._host = host
        if host is not None:
            host.on_end = self._host_ended
        self._routes = service.routes
        self._channels: dict[int, Channel] = {}
        self._numbers = itertools.count(1)
        self._waiters: set[asyncio.Future[Channel | None]] = set()
        self._background = LinkTasks(self._fault)
        self._attempting: asyncio.Task[Channel | LinkError] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._refused: list[Item] = []
        """Items of the conversation that the server does not take."""

    @property
    def state(self) -> LinkState:
        """Where the link is."""
        return self._life.state

    @property
    def active(self) -> Channel | None:
        """The channel to ask on."""
        return self._channels.get(self._life.active or 0)

    @property
    def spare(self) -> Channel | None:
        """The channel behind it."""
        return self._channels.get(self._life.spare or 0)

    @property
    def promotions(self) -> int:
        """How often the spare has taken the active channel's place."""
        return self._life.promotions

    @property
    def route(self) -> Route:
        """The route in use."""
        return self._routes[0]

    # -- what the user and the answers do ------------------------------------------------------

    def start(self) -> None:
        """Begin to connect, if not begun."""
        self._life.start(self._now())
        self._do()

    def wake(self) -> None:
        """Drop dead channels and have one ready, because a request is likely soon."""
        self._look()
        self._life.wake(self._now())
        self._do()

    def send_ahead(self, request: Request) -> None:
        """Send the conversation of ``request`` ahead on the channel that the next prompt will take: the spare
        while an answer runs, since the prompt will redirect it."""
        channel = self.spare if self._life.busy else self.active
        if channel is not None and self.warm_ups.can_read_ahead(channel, request):
            channel.ahead = request
            reading = read_ahead(channel, request, self.optional_fields)
            channel.reading = self._background.run(reading, "send ahead")

    def answer_begins(self) -> None:
        """An answer runs from now on."""
        self._life.answer_begins(self._now())

    def answer_ends(self) -> None:
        """The answer has ended."""
        self._life.answer_ends(self._now())
        self._do()

    def answered(self, channel: Channel) -> None:
        """The channel has carried a whole answer."""
        self._life.answered(channel.number)
        self._renewal.answered()

    def cut(self, channel: Channel) -> None:
        """End the channel now; the spare, where there is one, is active when this returns."""
        self._report_closed()
        channel.link.abort()
        self._life.cut(channel.number, self._now())
        self._do()

    def wait(self) -> asyncio.Future[Channel | None]:
        """A future of the next channel, or of the :class:`LinkError` of the next attempt.

        :meth:`forget` it in any case.
        """
        waiter: asyncio.Future[Channel | None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        self._report_closed()
        self._life.want(self._now())
        self._do()
        return waiter

    def forget(self, waiter: asyncio.Future[Channel | None]) -> None:
        """Remove a future of :meth:`wait`, which is no longer needed."""
        self._waiters.discard(waiter)
        if all(other.done() for other in self._waiters):
            self._life.unwant()

    # -- what changes about the server ---------------------------------------------------------

    def use(self, endpoint: Endpoint) -> None:
        """Connect to ``endpoint`` from now on."""
        self.endpoint = endpoint
        self._redial()

    def try_again(self) -> None:
        """Make the next attempt now."""
        self._life.try_again(self._now())
        self._do()

    def fall_back(self, why: str) -> bool:
        """Switch to the next route for the rest of the session; false if there is none."""
        if len(self._routes) < 2:
            return False
        old, self._routes = self._routes[0], self._routes[1:]
        self._redial(f"{self.endpoint.host}: no {old} ({why}); using {self.route}")
        return True

    def leave_out(
        self,
        error: ServerError,
        profile: RequestProfile,
        *,
        other_effort: bool = False,
        effort_items: bool = False,
    ) -> bool:
        """Leave out of the following requests what ``error`` refuses, if it is optional."""
        name = self.optional_fields.learn(
            error, profile, other_effort=other_effort, effort_items=effort_items
        )
        if name in EFFORT:
            self.feed.say(f"{self.endpoint.host} takes no effort for {profile.model}: asking without it")
        if name == NONE_WITH_TOOLS:
            way = f"{profile.model} calls tools over Chat with effort none alone"
            self.feed.say(f"{self.endpoint.host}: {way}: asking with that")
        return bool(name)

    def refused(self, items: Iterable[Item]) -> None:
        """Leave ``items`` of the conversation out of all requests: the server refuses what holds them."""
        self._refused += items
        self.feed.say(f"{self.endpoint.host} refused a part of an earlier answer: asking without it")

    def accepted(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Those of ``items`` that were not refused."""
        if not self._refused:
            return tuple(items)
        return tuple(item for item in items if not any(item is each for each in self._refused))

    async def renew(self, problem: LinkError) -> LinkError | None:
        """After ``problem``: None where another key was found, and is used; else the error to report."""
        found = await self._renewal.renew(problem, self.endpoint.api_key)
        if isinstance(found, LinkError):
            return found
        # A key that is asked for is asked for at each dial: this one may end, too.
        self.use(replace(self.endpoint, api_key=None if self.endpoint.ask_key else found))
        return None

    def advised(self, problem: LinkError) -> LinkError:
        """``problem``, and how to log in where it is about the key."""
        return self._renewal.advised(problem)

    async def why_lost(self, error: LinkError) -> LinkError:
        """The reason for ``error``: the end of an embedded server, or ``error`` itself."""
        return error if self._host is None else await behind(self._host, error)

    async def address(self) -> Endpoint:
        """The server to connect to; one of our own is started first. Raises :class:`LinkError`."""
        if self._host is not None:
            self.endpoint = await self._host.serve(self.feed.say)
        return self.endpoint

    async def close(self) -> None:
        """End everything; the state becomes ``offline`` and its followers end."""
        if self._attempting is not None:
            self._attempting.cancel()
        self._life.close()
        self._do()
        await self._background.close()
        if self._host is not None:
            await self._host.close()
        self.feed.close()

    # -- effects -------------------------------------------------------------------------------

    def _do(self) -> None:
        """Carry out the effects of the last event, and set the timer for the next tick."""
        for effect in self._life.take():
            self._carry_out(effect)
        loop = asyncio.get_running_loop()
        now = loop.time()
        seconds = self._life.due(now)
        if self._timer is not None:
            if seconds is not None and self._timer.when() <= now + seconds:
                return  # a look too early does no harm, and an interrupt need not set the timer anew
            self._timer.cancel()
        self._timer = None if seconds is None else loop.call_at(now + seconds, self._tick)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Dial():
                self.dials += 1
                self._attempting = self._background.run(self._attempt(), _CONNECT, self._attempt_ended)
            case Cut(number=number):
                self._channels.pop(number).link.abort()
            case Close(number=number):
                self._background.run(self._channels.pop(number).link.close(), "close")
            case Announce(change=change):
                self.feed.announce(change)
            case Supply(number=number):
                for waiter in self._open_waiters():
                    waiter.set_result(self._channels[number])
            case Refuse(problem=problem):
                for waiter in self._open_waiters():
                    waiter.set_exception(problem)

    def _open_waiters(self) -> list[asyncio.Future[Channel | None]]:
        return [waiter for waiter in self._waiters if not waiter.done()]

    # -- attempts ------------------------------------------------------------------------------

    async def _attempt(self) -> Channel | LinkError:
        """One attempt to connect, warmed up unless an answer is already waiting for it."""
        try:
            route, endpoint = self.route, await self.address()
            link = await open_link(
                endpoint, route, open_timeout=self._open_timeout, compression=self.compression
            )
            self.upgrade_seconds = link.upgrade_seconds
            channel = Channel(next(self._numbers), link, route, endpoint)
            try:
                await self._warm(channel)
            except BaseException:  # a cancelled warm-up, too, leaves no open socket that nobody holds
                link.abort()
                raise
        except LinkError as error:
            problem = await self.why_lost(error)
            silent = "no answer" if problem.code == NO_UPGRADE else "refused"
            if self.has_no_websocket(problem) and self.fall_back(str(problem.status or silent)):
                return problem
            return await self.renew(problem) or problem
        self._upgrades_lost = 0
        return channel

    def has_no_websocket(self, problem: LinkError) -> bool:
        """Whether the server, or what stands before it, may know no WebSocket. Not all say so with a 426:
        some refuse the upgrade for another reason, close the connection, or are silent. Where an upgrade has
        succeeded once, that is a fault that passes, unless it repeats: the network may be another.
        """
        if problem.kind is LinkProblem.NO_WEBSOCKET:
            return True
        status = problem.status or 0
        may_be = status in (400, 403) or status >= 500 or problem.code == NO_UPGRADE
        known = problem.kind in (LinkProblem.MODEL, LinkProblem.PLAN, LinkProblem.CLOSED)
        # A spare connection that is refused says nothing against the one in use.
        if self.route.transport is not Transport.WEBSOCKET or not may_be or known or self.active is not None:
            return False
        self._upgrades_lost += 1
        return self.upgrade_seconds is None or self._upgrades_lost >= _UPGRADES_BEFORE_FALLING_BACK

    async def _warm(self, channel: Channel) -> None:
        if not self._life.wanted and self.warm_ups.worth(channel.route):
            self._life.opened()
            self._do()
            channel.last = await self.warm_ups.warm(channel, self._profile())

    def _attempt_ended(self, result: Channel | LinkError) -> None:
        if isinstance(result, LinkError):
            self._life.attempt_failed(result, self._now())
        else:
            self._channels[result.number] = result
            self._life.connected(result.number, self._now())
        self._do()
        if isinstance(result, Channel) and result.number in self._channels:
            self._watch(result.number, result.link)

    def _watch(self, number: int, link: Link) -> None:
        self._background.run(link.wait_closed(), "watch", lambda _: self._closed_by_server(number))

    # -- what happens to open links ------------------------------------------------------------

    def _closed_by_server(self, number: int) -> None:
        if number in self._channels:
            self._close_event(number)
            self._do()

    def _report_closed(self) -> None:
        """Report links that have closed but whose watcher has not run yet."""
        for channel in (self.spare, self.active):
            if channel is not None and not channel.link.is_open:
                self._close_event(channel.number)

    def _close_event(self, number: int) -> None:
        channel = self._channels.pop(number)
        message = f"{channel.endpoint.host} closed the connection; reconnecting"
        self._life.closed(number, message, self._now())

    def _look(self) -> None:
        """Drop links that a sleep or a change of network has killed without closing their sockets."""
        now = self._now()
        self._report_closed()
        if self._sleep_clock.has_slept():
            self.generation += 1
            self._life.slept(now)
        for channel in (self.spare, self.active):
            ends = None if channel is None else channel.link.ends
            if channel is not None and ends is not None:
                self._life.stands(channel.number, self._judge(*ends), now)

    def _tick(self) -> None:
        self._timer = None
        try:
            self._look()
            self._life.tick(self._now())
        except Exception as error:  # noqa: BLE001 - nobody waits for a timer: it is reported here
            self._background.report("look", error)
        self._do()

    def _redial(self, note: str | None = None) -> None:
        self.generation += 1
        self._life.redial(self._now(), note)
        self._do()

    def _host_ended(self, why: str) -> None:
        self.generation += 1
        self._life.host_ended(why, self._now())
        self._do()

    def _fault(self, name: str, error: BaseException) -> None:
        """Report an unexpected failure, and continue as after a lost connection."""
        message = f"The connection failed unexpectedly: {one_line(error) or type(error).__name__}."
        if name == _CONNECT:
            self._life.attempt_failed(LinkError(LinkProblem.UNREACHABLE, message), self._now())
            self._do()
        else:
            self.feed.say(message)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
