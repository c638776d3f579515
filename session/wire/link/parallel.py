"""Requests in parallel to the answer: a summary is written, say, while the user goes on.

Each has a connection of its own, at most :data:`MOST_AT_ONCE` at a time, so nothing that happens to the
answer's connection touches it, and giving it up stops the server. A connection that has carried its answer
is kept for a while for the next. Where the provider allows no second connection, a request waits until no
answer runs, and gives way to the next: the answer that the user waits for comes first.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from session.base.tasks import LinkTasks
from session.wire.link.exchange import Channel, Patience, Request, exchange
from session.wire.link.keeper import Keeper
from session.wire.link.retries import Retries, Tries
from session.wire.protocol.dialects import FIM_NAMES
from session.wire.protocol.events import Created, Finished, WireEvent
from session.wire.transport.dial import open_link
from session.wire.transport.errors import NO_SUCH_PATH, LinkError
from session.wire.transport.refusals import Refusal, from_server
from session.wire.transport.service import Route

MOST_AT_ONCE = 4
"""Requests that run at a time; further ones wait for their turn."""
KEPT_SECONDS = 60.0
"""How long a connection is kept for the next request."""
_QUIET_SECONDS = 1.0
"""How long no answer must run before a request may take a server that serves one at a time."""


class ParallelRequests:
    """The requests of one connection that run beside its answers. All calls on the event loop."""

    def __init__(self, keeper: Keeper, patience: Patience, retries: Retries, open_timeout: float) -> None:
        self._keeper = keeper
        self._patience = patience
        self._retries = retries
        self._open_timeout = open_timeout
        self._turns = asyncio.Semaphore(MOST_AT_ONCE if keeper.service.spare else 1)
        self._running: set[Channel] = set()
        self._gave_way: set[Channel] = set()
        self._kept: list[tuple[Channel, int, asyncio.TimerHandle]] = []
        """Connections without a request, the keeper's generation when they were opened, and their end."""
        self._no_answer = asyncio.Event()
        self._no_answer.set()
        self._answers = 0
        self._background = LinkTasks(lambda name, error: None)
        self._closed = False

    async def ask(self, request: Request) -> AsyncGenerator[WireEvent, None]:
        """See ``Connection.ask_in_parallel``."""
        tries = Tries(self._retries)
        again = False
        while not self._is_closed():
            if again:
                yield Created("")
            again = True
            wait = 0.0
            route, unopened = self._keeper.route, False
            try:
                async with self._turns, contextlib.aclosing(self._attempt(request)) as events:
                    async for event in events:
                        yield event
                return
            except _GaveWayError:
                continue
            except Refusal as refusal:
                if self._keeper.leave_out(refusal.error, request.profile, effort_items=bool(request.efforts)):
                    if not self._keeper.optional_fields.takes_effort_items(request.profile):
                        request = request.with_one_effort()
                    continue
                problem = from_server(refusal.error, self._keeper.endpoint, request.profile.model)
            except _UnopenedError as error:
                problem, unopened = error.problem, True
            except LinkError as error:
                problem = error
            if self._is_closed():
                return
            if request.route is None and self._falls_back(problem, route, unopened=unopened):
                continue
            if not tries.at_once(problem, asked=True):
                next_wait = tries.wait(problem)
                if next_wait is None:
                    raise problem
                wait = next_wait
            await asyncio.sleep(wait)

    def _falls_back(self, problem: LinkError, route: Route, *, unopened: bool) -> bool:
        """Switch to the next route if ``problem``, met on ``route``, calls for it: there may have been no
        answer yet that would have. Several requests that meet it at once switch once."""
        if problem.code != NO_SUCH_PATH and not (unopened and self._keeper.has_no_websocket(problem)):
            return False
        return self._keeper.route != route or self._keeper.fall_back(str(problem.status or "refused"))

    def answer_begins(self) -> None:
        """An answer is about to be asked for: a server that serves one at a time is left to it."""
        self._no_answer.clear()
        self._answers += 1
        if not self._keeper.service.spare:
            self._gave_way |= self._running
            for channel in self._running:
                channel.link.abort()

    def answer_ends(self) -> None:
        """The answer has ended."""
        self._no_answer.set()

    async def close(self) -> None:
        """End all requests; each ends without a ``Finished``."""
        self._closed = True
        self._no_answer.set()
        for channel in self._running:
            channel.link.abort()
        for channel, _, timer in self._kept:
            timer.cancel()
            channel.link.abort()
        self._kept.clear()
        await self._background.close()

    def _is_closed(self) -> bool:
        return self._closed  # it may have changed between any two steps

    async def _attempt(self, request: Request) -> AsyncGenerator[WireEvent, None]:
        await self._wait_for_quiet(at_once=request.at_once)
        generation = self._keeper.generation
        route = request.route or self._keeper.route
        channel = self._take_kept(route) or await self._open(route)
        if self._is_closed():
            channel.link.abort()
            return
        self._running.add(channel)
        whole = False
        try:
            written = request.written_for(channel, self._keeper.optional_fields)
            await channel.link.drain()
            attempt = exchange(channel, request, written, self._patience)
            async with contextlib.aclosing(attempt) as batches:
                async for batch in batches:
                    for event in batch:
                        whole = isinstance(event, Finished)
                        yield event
        except LinkError as error:
            if channel in self._gave_way:
                raise _GaveWayError from error
            raise
        finally:
            self._running.discard(channel)
            self._gave_way.discard(channel)
            if whole and channel.link.is_open and not self._is_closed():
                self._keep(channel, generation)
            else:
                channel.link.abort()

    async def _open(self, route: Route) -> Channel:
        endpoint = await self._keeper.address()
        compression = self._keeper.compression
        try:
            link = await open_link(endpoint, route, open_timeout=self._open_timeout, compression=compression)
        except LinkError as problem:
            raise _UnopenedError(problem) from problem
        return Channel(0, link, route, endpoint)

    # -- kept connections ----------------------------------------------------------------------

    def _keep(self, channel: Channel, generation: int) -> None:
        end = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._let_go, channel)
        self._kept.append((channel, generation, end))

    def _take_kept(self, route: Route) -> Channel | None:
        """A kept connection for ``route`` that is of use still; those that are of no use are closed."""
        for kept in reversed(tuple(self._kept)):
            channel, generation, end = kept
            current = generation == self._keeper.generation and channel.link.is_open
            fits = channel.route == route
            if current and not fits and channel.route.dialect in (*FIM_NAMES, self._keeper.route.dialect):
                continue
            self._kept.remove(kept)
            end.cancel()
            if current and fits:
                return channel
            self._background.run(channel.link.close(), "close")
        return None

    def _let_go(self, channel: Channel) -> None:
        self._kept = [kept for kept in self._kept if kept[0] is not channel]
        self._background.run(channel.link.close(), "close")

    # -- servers that serve one at a time ------------------------------------------------------

    async def _wait_for_quiet(self, *, at_once: bool) -> None:
        """Wait until no answer runs, where the provider allows no second connection; with ``at_once`` not
        for another one that may come soon."""
        while not self._keeper.service.spare and not self._is_closed():
            await self._no_answer.wait()
            answers = self._answers
            if at_once:
                return
            await asyncio.sleep(_QUIET_SECONDS)
            if self._no_answer.is_set() and answers == self._answers:
                return


class _UnopenedError(Exception):
    """A connection could not be opened, for the reason ``problem``."""

    def __init__(self, problem: LinkError) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _GaveWayError(Exception):
    """The request was ended for an answer, and is to be made again."""
