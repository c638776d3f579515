"""Keeping a line to the server open and warm, with another behind it: one background task does it all.

The *active* line carries the answers. The *spare* stands behind it, as warm, where the provider allows
a second connection: it is promoted in the same step in which the active one is given up, so that a
redirect meets no handshake. Lines are replaced before they grow too old, between answers; closed when
nobody has asked for long; and dropped when the machine has slept or changed its network, since their
sockets are dead then.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import Callable
from dataclasses import replace

from session.link.ageing import Ageing
from session.link.line import Line
from session.link.sleep_clock import slept_seconds
from session.link.state import Backoff, LinkFeed, LinkSignal, LinkState
from session.link.warming import WarmUps
from session.protocol.request import RequestProfile
from session.transport.dial import open_link
from session.transport.endpoint import Endpoint, Login
from session.transport.errors import NO_KEY, LinkError, LinkProblem
from session.transport.hosted_server import HOST_ENDED, Host, behind
from session.transport.network import Judge, standing
from session.transport.service import Route, Service, Transport

_SETTLED_SECONDS = 10.0
_FORBIDDEN = 403
_SPARE_BACKOFF = Backoff(first=5.0, longest=300.0)


class Keeper:
    """Brings lines up and keeps them. ``active`` is the one to ask on, ``spare`` the one behind it.

    For measuring: ``dials``, ``warm_ups`` and ``promotions`` count over its life.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        service: Service,
        profile: Callable[[], RequestProfile],
        *,
        open_timeout: float,
        backoff: Backoff,
        slept: Callable[[], float] = slept_seconds,
        judge: Judge = standing,
        login: Login,
        host: Host | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._host = host
        if host is not None:
            host.on_end = self._host_ended
        self.service = service
        self.feed = LinkFeed()
        self.active: Line | None = None
        self.spare: Line | None = None
        self.busy = False
        """Whether an answer runs: its line is left alone then."""
        self.upgrade_seconds: float | None = None
        self.dials = 0
        self.promotions = 0
        self._profile = profile
        self._open_timeout = open_timeout
        self._backoff = backoff
        self._ageing = Ageing(service, slept, judge)
        self._login = login
        self._refreshed = False
        self._routes = service.routes
        self._task: asyncio.Task[None] | None = None
        self._kick = asyncio.Event()
        self._waiters: list[asyncio.Future[Line | None]] = []
        self._parting: set[asyncio.Task[None]] = set()
        self._resting = False
        self._failures = 0
        self._hold = 0.0
        """When the next attempt for an active line may be made."""
        self._spare_failures = 0
        self._spare_at: float | None = 0.0
        self._warming = WarmUps(service)
        self._note: str | None = None
        self._lost: str | None = None

    @property
    def warm_ups(self) -> int:
        """Warm-ups that gave an id to continue from."""
        return self._warming.given

    @property
    def route(self) -> Route:
        """The way to ask that is in use."""
        return self._routes[0]

    def start(self) -> None:
        """Begin, if not begun. Needs a running loop."""
        if self._task is None:
            self._ageing.used = self._now()
            self._task = asyncio.get_running_loop().create_task(self._keep(), name="spark-connection")

    async def close(self) -> None:
        """End the task and every line."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for line in (self.active, self.spare):
            if line is not None:
                self._part(line)
        self.active = self.spare = None
        if self._parting:
            await asyncio.wait(self._parting)
        if self._host is not None:
            await self._host.close()
        self.feed.close()

    def wake(self) -> None:
        """Somebody is about to ask: have a line ready."""
        self._ageing.used = self._now()
        self._drop_dead()
        if self._resting:
            self._resting = False
            self._kick.set()

    def use(self, endpoint: Endpoint) -> None:
        """Dial ``endpoint`` from now on, and let go of the lines to the one before."""
        self.endpoint = endpoint
        self._retire_all()
        self.try_again()

    def try_again(self) -> None:
        """Make the next attempt now."""
        self._hold = 0.0
        self._kick.set()

    def wanted(self) -> asyncio.Future[Line | None]:
        """A future that gets the next line, or the :class:`LinkError` of the next attempt."""
        waiter: asyncio.Future[Line | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._kick.set()
        return waiter

    def unwanted(self, waiter: asyncio.Future[Line | None]) -> None:
        """Nobody waits for this one any more."""
        self._waiters.remove(waiter)

    def retire(self, line: Line) -> None:
        """Cut ``line`` now; the spare, where there is one, is active when this returns."""
        line.link.abort()
        self._forget(line)

    def _retire_all(self) -> None:
        for line in (self.spare, self.active):
            if line is not None:
                self.retire(line)

    def fall_back(self, why: str) -> bool:
        """Go on by the next route, for good; false where there is none."""
        if len(self._routes) < 2:
            return False
        old, self._routes = self._routes[0], self._routes[1:]
        self._note = f"{self.endpoint.host}: no {old} ({why}); using {self.route}"
        self._retire_all()
        self._failures, self._hold = 0, 0.0
        return True

    def used(self) -> None:
        """An answer has ended, or is about to begin."""
        self._ageing.used = self._now()

    async def renew(self, problem: LinkError) -> LinkError | None:
        """After ``problem``: None where it was a refused key, and there is another to go on with, which is
        looked for once between answers. Else what to say, and for a key how to log in."""
        advice = self._login.refused
        said = problem.code == NO_KEY or (advice and problem.message.endswith(advice))
        if problem.kind is not LinkProblem.UNAUTHORIZED or said:
            return problem
        key = None
        if problem.status != _FORBIDDEN and self._login.refresh is not None and not self._refreshed:
            self._refreshed = True
            try:
                key = await self._login.refresh()
            except LinkError as error:
                problem = error
        if not key or key == self.endpoint.api_key:
            return problem.saying(f" {advice}") if advice else problem
        self._failures = 0
        self.use(replace(self.endpoint, api_key=key))
        return None

    def answered(self) -> None:
        """The server has given a whole answer: it takes the key."""
        self._refreshed = False

    # -- the task ------------------------------------------------------------------------------

    async def _keep(self) -> None:
        while True:
            self._kick.clear()
            self._look()
            if not self._wants_line():
                await self._pause(self._ageing.next_look())
            elif self.active is None and self._held():
                await self._pause(None if math.isinf(self._hold) else self._hold - self._now())
            else:
                if self.active is None:
                    self.feed.signal(LinkSignal.DIAL)
                try:
                    line = await self._bring_up()
                except LinkError as error:
                    problem = await self.renew(await self.why_lost(error))
                    if problem is None:
                        self.feed.signal(LinkSignal.LOST)
                    else:
                        self._failed(problem)
                else:
                    if line.endpoint is self.endpoint:
                        self._place(line)
                    else:  # it was dialled before the address or its headers were changed
                        self._part(line)

    def _held(self) -> bool:
        """Whether the next attempt has to wait: for its time, unless somebody asks for it."""
        return self._hold > self._now() and all(waiter.done() for waiter in self._waiters)

    def _look(self) -> None:
        """Let go of lines that are closed, too old, dead from sleep, or not needed any more."""
        self._drop_dead()
        for line in (self.active, self.spare):
            if line is not None and not line.link.is_open:
                self._forget(line)
        if self.spare is not None and self._ageing.is_old(self.spare):
            self._part(self.spare)
            self.spare = None
        wanted = self.busy or self._waiters
        if self.active is not None and not wanted and self._ageing.is_idle(self.active):
            self._resting = True
            for line in (self.active, self.spare):
                if line is not None:
                    self._part(line)
            self.active = self.spare = None
            self.feed.signal(LinkSignal.REST)
        if self.active is None and self.feed.change.state is LinkState.READY:
            self.feed.signal(LinkSignal.LOST, self._lost)
            self._lost = None

    def _wants_line(self) -> bool:
        if self._resting:
            return False
        if self.active is None or self._ageing.is_due(self.active, in_use=self.busy):
            return True
        may = self.service.spare and self.spare is None
        return may and self._spare_at is not None and self._now() >= self._spare_at

    def _place(self, line: Line) -> None:
        """Put a new line where it is needed."""
        line.watch = asyncio.get_running_loop().create_task(line.link.wait_closed())
        line.watch.add_done_callback(lambda _: self._kick.set())
        if self.active is None:
            self.active = line
            self._spare_at, self._spare_failures = 0.0, 0
            # A spare on its way when the active line was lost comes unannounced.
            if self.feed.change.state is not LinkState.READY:
                self.feed.signal(LinkSignal.WARM, self._note)
                self._note = None
            self._release(line)
        elif self._ageing.is_due(self.active, in_use=self.busy):
            self._part(self.active)
            self.active = line
        else:
            self._spare_failures = 0
            self.spare = line

    def _failed(self, error: LinkError) -> None:
        """An attempt failed: tell who must know, and set when the next may be."""
        if self.active is not None:  # it was for the spare: nobody misses it yet
            self._spare_failures += 1
            wait = _SPARE_BACKOFF.wait(self._spare_failures, random.random)
            self._spare_at = None if error.lasting else self._now() + wait
            return
        if error.kind is LinkProblem.NO_WEBSOCKET and self.fall_back(str(error.status or "refused")):
            self.feed.signal(LinkSignal.LOST)
            return
        if error.code == HOST_ENDED and self.feed.change.state is LinkState.FAILED:
            return  # this attempt met an end that has been told meanwhile: who asks now is for the next
        self._failures += 1
        wait = self._backoff.wait(self._failures, random.random)
        self._hold = math.inf if error.lasting else self._now() + wait
        if error.lasting:
            self._refused(error.message)
        else:
            self.feed.signal(LinkSignal.LOST, error.message)
        self._release(error)

    async def why_lost(self, error: LinkError) -> LinkError:
        """``error``, or what lies behind it: that the server, where it is our own, has ended."""
        return error if self._host is None else await behind(self._host, error)

    async def address(self) -> Endpoint:
        """The server to dial; one of our own is started first. Raises :class:`LinkError`."""
        if self._host is not None:
            self.endpoint = await self._host.serve(self.feed.say)
        return self.endpoint

    def _host_ended(self, why: str) -> None:
        """The server of our own has ended unasked: it is started again when somebody asks."""
        self._retire_all()
        self._hold = math.inf
        if self.feed.change.state is LinkState.OFFLINE:  # the loss of the line was seen first
            self.feed.signal(LinkSignal.DIAL)
        self._refused(why)

    def _refused(self, why: str) -> None:
        if self.feed.change.state is not LinkState.FAILED:
            self.feed.signal(LinkSignal.REFUSED, why)

    async def _bring_up(self) -> Line:
        """A new line, warmed up unless an answer is already waiting for it."""
        self.dials += 1
        route, endpoint = self.route, await self.address()
        link = await open_link(endpoint, route, open_timeout=self._open_timeout)
        self.upgrade_seconds = link.upgrade_seconds
        lanes = self.service.lanes if route.transport is Transport.WEBSOCKET else 1
        line = Line(link, route, endpoint, self._now(), lanes=lanes)
        try:
            if route.transport is Transport.WEBSOCKET and self._warming.worth_it and not self._waiters:
                if self.feed.change.state is LinkState.CONNECTING:
                    self.feed.signal(LinkSignal.OPENED)
                line.last = await self._warming.warm(link, self.endpoint, self._profile())
        except BaseException:  # a cancelled warm-up, too, leaves no open socket that nobody holds
            link.abort()
            raise
        return line

    # -- lines ---------------------------------------------------------------------------------

    def _forget(self, line: Line) -> None:
        """``line`` is gone; if it was the active one, the spare takes its place."""
        if self.spare is line:
            self.spare = None
        elif self.active is line:
            ours = line.link.aborted
            settled = ours or line.answered or self._now() - line.opened > _SETTLED_SECONDS
            self._failures = 0 if settled else self._failures + 1
            self._hold = self._now() + self._backoff.wait(self._failures, random.random)
            self._lost = None if ours else f"{self.endpoint.host} closed the connection; connecting again"
            self.active = None
            if self.spare is not None and self.spare.link.is_open:
                self.active, self.spare = self.spare, None
                self.promotions += 1
                self._release(self.active)
        self._kick.set()

    def _part(self, line: Line) -> None:
        """Close ``line`` politely, in the background."""
        task = asyncio.get_running_loop().create_task(line.link.close())
        self._parting.add(task)
        task.add_done_callback(self._parting.discard)

    def _drop_dead(self) -> None:
        """Cut lines that sleep or another network has killed, though nobody has told their sockets."""
        slept = self._ageing.has_slept()
        for line in (self.spare, self.active):
            if line is None:
                continue
            in_use = line is self.active and self.busy
            if slept or self._ageing.has_no_network(line, in_use=in_use):
                self.retire(line)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _pause(self, seconds: float | None) -> None:
        """Wait for ``seconds`` (None: for good), or until there is something to do."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._kick.wait()

    def _release(self, result: Line | LinkError) -> None:
        for waiter in self._waiters:
            if waiter.done():
                continue
            if isinstance(result, LinkError):
                waiter.set_exception(result)
            else:
                waiter.set_result(result)
