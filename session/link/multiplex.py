"""Several answers on one socket: each event goes to the request it is for.

A provider with *lanes* runs more than one response at a time on a connection: a request that names a
``stream_id`` gets it back on each of its events, and the default lane's events carry none. Whoever
waits for an event reads the socket, for all; what is for somebody else is put in their queue. So there
is no task between the socket and an answer, and without a named lane nothing is looked at twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

from session.protocol.framing.frames import NotAnObject, parse_object
from session.transport.errors import LinkError
from session.transport.links import Link

MOST_NAMES = 32
"""Named lanes that a connection may ever have (OpenAI's public reference)."""
_MOST_DRAINED = 1024
_NAMES_ONE = b'"stream_id"'


class SideLane:
    """A named lane of a shared socket, from its request to the end of its answer."""

    def __init__(self, shared: SharedLink, name: str) -> None:
        self.name = name
        self.queue: deque[dict[str, Any]] = deque()
        self._shared = shared

    async def send(self, frame: str) -> None:
        """Ask; ``frame`` names this lane. Raises :class:`LinkError`."""
        await self._shared.send(frame)

    async def receive(self) -> dict[str, Any]:
        """This lane's next event. Raises :class:`LinkError` when the socket is lost."""
        return await self._shared.next_on(self)

    def end(self, *, clean: bool) -> None:
        """Nothing more is read. After a ``clean`` end its name can be used again; what the server
        still sends on another is thrown away."""
        self._shared.end(self, clean=clean)


class SharedLink:
    """Reads a :class:`Link` for the default lane and the named ones; at most ``lanes`` run at a time."""

    def __init__(self, link: Link, lanes: int) -> None:
        self._link = link
        self._lanes = lanes
        self._main: deque[bytes | None] = deque()
        self._open: dict[str, SideLane] = {}
        self._free: list[str] = []
        self._names = 0
        self._reading = False
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def in_use(self) -> bool:
        """Whether a named lane's answer is still wanted."""
        return bool(self._open)

    def lane(self) -> SideLane | None:
        """A free named lane; None where all are taken, or the names are used up."""
        if len(self._open) + 1 >= self._lanes:
            return None
        if not self._free:
            if self._names >= MOST_NAMES:
                return None
            self._names += 1
            self._free.append(f"side-{self._names}")
        lane = SideLane(self, self._free.pop())
        self._open[lane.name] = lane
        return lane

    def end(self, lane: SideLane, *, clean: bool) -> None:
        """See :meth:`SideLane.end`."""
        if self._open.pop(lane.name, None) is not None and clean:
            self._free.append(lane.name)

    async def send(self, frame: str) -> None:
        """Send one request, of whichever lane."""
        await self._link.send(frame)

    async def receive(self) -> bytes | None:
        """The default lane's next event, as :meth:`Link.receive` gives it."""
        while not self._main:
            if self._reading:
                await self._news()
            else:
                frame = await self._read()
                if not self._names or not self._is_for_a_lane(frame):
                    return frame
        return self._main.popleft()

    async def next_on(self, lane: SideLane) -> dict[str, Any]:
        """See :meth:`SideLane.receive`."""
        while not lane.queue:
            if self._reading:
                await self._news()
                continue
            frame = await self._read()
            if not self._is_for_a_lane(frame):
                self._main.append(frame)
        return lane.queue.popleft()

    async def drain(self) -> None:
        """Throw away what the default lane's last answer left behind; the named lanes lose nothing."""
        if not self._names:
            await self._link.drain()
            return
        with contextlib.suppress(TimeoutError, LinkError):
            for _ in range(_MOST_DRAINED):
                async with asyncio.timeout(0):
                    await self.receive()

    async def _read(self) -> bytes | None:
        self._reading = True
        try:
            return await self._link.receive()
        finally:
            self._reading = False
            if self._waiting:  # after this step: whoever has read mostly reads on at once
                asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        """Let those who wait look at their queues; one of them reads on where nobody does."""
        waiting = [each for each in self._waiting if not each.done()]
        queued = bool(self._main) or any(lane.queue for lane in self._open.values())
        if queued or not self._reading:
            for each in waiting:
                each.set_result(None)

    async def _news(self) -> None:
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(news)
        try:
            await news
        finally:
            self._waiting.discard(news)

    def _is_for_a_lane(self, frame: bytes | None) -> bool:
        """Whether ``frame`` names a lane; it is in that lane's queue then, if anybody still wants it."""
        if frame is None or _NAMES_ONE not in frame:
            return False
        try:
            body = parse_object(frame)
        except NotAnObject:
            return False
        name = body.get("stream_id")
        if not isinstance(name, str):
            return False
        if name in self._open:
            self._open[name].queue.append(body)
        return True
