"""Requests beside the running answer: a summary is written, say, while the user goes on.

Where the provider runs several responses on one connection, such a request goes out on a named lane of
the active line. Else it has a connection of its own, and where the provider allows no second one it
waits until no answer runs, and gives way to the next. The answer that the user waits for is never
stopped or delayed by it. Nothing documented stops a lane: one that is given up is read to its end
and thrown away.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine

from session.link.attempt import Patience, request_on
from session.link.keeper import Keeper
from session.link.line import Line
from session.link.multiplex import SideLane
from session.link.retries import Retries, Tries
from session.protocol.events import Created, ServerError, WireEvent
from session.protocol.items import Item
from session.protocol.request import RequestProfile
from session.protocol.responses import ResponseDecoder, encode_create
from session.transport.dial import open_link
from session.transport.errors import LinkError, LinkProblem
from session.transport.refusals import Refusal, from_server

_GAVE_WAY = "gave_way"
_QUIET_SECONDS = 1.0
"""Without an answer, before a request may take a server that serves one at a time."""


class Asides:
    """The requests beside the answers of one connection."""

    def __init__(self, keeper: Keeper, patience: Patience, retries: Retries, open_timeout: float) -> None:
        self._keeper = keeper
        self._patience = patience
        self._retries = retries
        self._open_timeout = open_timeout
        self._own: set[Line] = set()
        self._yielded: set[Line] = set()
        self._free = asyncio.Event()
        self._free.set()
        self._answers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False

    async def ask(self, profile: RequestProfile, items: tuple[Item, ...]) -> AsyncGenerator[WireEvent, None]:
        """See ``Connection.aside``."""
        tries = Tries(self._retries)
        may_share, again = True, False
        while not self._ended():
            shared: SideLane | None = None
            try:
                if again:
                    yield Created("")
                again = True
                shared = self._lane() if may_share else None
                attempt = self._on_own(profile, items) if shared is None else self._on(shared, profile, items)
                async with contextlib.aclosing(attempt) as events:
                    async for event in events:
                        yield event
                return
            except Refusal as refusal:
                problem = from_server(refusal.error, self._keeper.endpoint, profile.model)
                if shared is not None and not problem.lasting and may_share:
                    may_share = False  # it may be the lane that is refused
                    continue
            except LinkError as error:
                problem = error
            if self._ended():
                return
            wait = 0.0 if problem.code == _GAVE_WAY else tries.wait(problem)
            if wait is None:
                raise problem
            await asyncio.sleep(wait)

    def give_way(self) -> None:
        """An answer is about to be asked for: a server that serves one at a time is left to it."""
        self._free.clear()
        self._answers += 1
        if self._one_at_a_time():
            self._yielded |= self._own
            for line in self._own:
                line.link.abort()

    def go_on(self) -> None:
        """No answer runs any more."""
        self._free.set()

    async def close(self) -> None:
        """End them all."""
        self._over = True
        self._free.set()
        for line in self._own:
            line.link.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self) -> bool:
        return self._over

    def _one_at_a_time(self) -> bool:
        service = self._keeper.service
        return not service.spare and service.lanes <= 1

    # -- on a lane -----------------------------------------------------------------------------

    def _lane(self) -> SideLane | None:
        line = self._keeper.active
        return line.shared.lane() if line is not None and line.link.is_open else None

    async def _on(
        self, lane: SideLane, profile: RequestProfile, items: tuple[Item, ...]
    ) -> AsyncGenerator[WireEvent, None]:
        decoder = ResponseDecoder()
        sent = False
        try:
            quirks = self._keeper.service.quirks
            frame = encode_create(profile, items, stream_id=lane.name, quirks=quirks)
            sent = True
            await self._patience.wait(lane.send(frame))
            while not decoder.finished:
                for event in decoder.take(await self._patience.wait(lane.receive())):
                    if isinstance(event, ServerError):
                        raise Refusal(event)
                    yield event
        finally:
            if decoder.finished or not sent or self._over:
                lane.end(clean=True)
            else:
                self._spawn(self._read_out(lane, decoder))

    async def _read_out(self, lane: SideLane, decoder: ResponseDecoder) -> None:
        """Read a lane that was given up to its end, lest its events fill the socket."""
        try:
            while not decoder.finished:
                decoder.take(await self._patience.wait(lane.receive()))
        except LinkError:
            pass  # lost with its socket, or for ever silent
        finally:
            lane.end(clean=decoder.finished)

    # -- on a connection of its own ------------------------------------------------------------

    async def _on_own(
        self, profile: RequestProfile, items: tuple[Item, ...]
    ) -> AsyncGenerator[WireEvent, None]:
        keeper = self._keeper
        route, endpoint = keeper.route, await keeper.address()
        link = await open_link(endpoint, route, open_timeout=self._open_timeout)
        line = Line(link, route, endpoint, 0.0)
        self._own.add(line)
        finished = False
        try:
            await self._quiet()
            frame, decoder = request_on(line, profile, items, keeper.service.quirks)
            if self._over:
                return
            await self._patience.wait(line.link.send(frame))
            while not decoder.finished:
                received = await self._patience.wait(line.shared.receive())
                for event in self._patience.read(decoder, received):
                    if isinstance(event, ServerError):
                        raise Refusal(event)
                    finished = decoder.finished
                    yield event
        except LinkError as error:
            if line in self._yielded:
                raise LinkError(LinkProblem.CLOSED, error.message, code=_GAVE_WAY) from error
            raise
        finally:
            self._own.discard(line)
            self._yielded.discard(line)
            if finished:
                self._spawn(line.link.close())
            else:
                line.link.abort()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _quiet(self) -> None:
        """Wait until no answer runs, where the server serves one at a time."""
        while self._one_at_a_time() and not self._over:
            await self._free.wait()
            answers = self._answers
            await asyncio.sleep(_QUIET_SECONDS)
            if self._free.is_set() and answers == self._answers:
                return
