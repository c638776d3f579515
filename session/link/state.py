"""The link to the model server as a state machine, and the waits between its attempts.

Rules, which the table holds:

1. Every way to ``ready`` leads through ``connecting``; ``warming`` between them is left out where
   the server knows no warm-up.
2. A loss that may pass (``lost``) makes the link ``offline``: another attempt follows by itself.
3. A refusal that cannot pass (``refused``) makes it ``failed``: an attempt follows only when
   somebody asks for an answer, or changes the settings.
4. A link that nobody has used for long is closed (``rest``) and ``idle`` until it is wanted.

``waiting`` is none of the table's: it lies over the state beneath while an answer waits for its next
attempt, and carries the seconds of that wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum


class LinkState(StrEnum):
    """Where the link is; the values are those of the ``connection`` event."""

    OFFLINE = "offline"
    CONNECTING = "connecting"
    WARMING = "warming"
    READY = "ready"
    FAILED = "failed"
    IDLE = "idle"
    WAITING = "waiting"


class LinkSignal(StrEnum):
    """What can happen to the link."""

    DIAL = "dial"
    OPENED = "opened"
    WARM = "warm"
    LOST = "lost"
    REFUSED = "refused"
    REST = "rest"
    CLOSE = "close"


_OPEN_ENDS = {
    LinkSignal.LOST: LinkState.OFFLINE,
    LinkSignal.REFUSED: LinkState.FAILED,
    LinkSignal.CLOSE: LinkState.OFFLINE,
}

TABLE: dict[LinkState, dict[LinkSignal, LinkState]] = {
    LinkState.OFFLINE: {LinkSignal.DIAL: LinkState.CONNECTING, LinkSignal.CLOSE: LinkState.OFFLINE},
    LinkState.CONNECTING: {
        LinkSignal.OPENED: LinkState.WARMING,
        LinkSignal.WARM: LinkState.READY,
        **_OPEN_ENDS,
    },
    LinkState.WARMING: {LinkSignal.WARM: LinkState.READY, **_OPEN_ENDS},
    LinkState.READY: {
        **_OPEN_ENDS,
        LinkSignal.DIAL: LinkState.CONNECTING,
        LinkSignal.REST: LinkState.IDLE,
    },
    LinkState.IDLE: {LinkSignal.DIAL: LinkState.CONNECTING, LinkSignal.CLOSE: LinkState.OFFLINE},
    LinkState.FAILED: {LinkSignal.DIAL: LinkState.CONNECTING, LinkSignal.CLOSE: LinkState.OFFLINE},
}


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The link moved to ``state``; ``message`` is a line for the person where there is one to say.

    ``seconds``, with ``waiting``: from this change to the next attempt.
    """

    state: LinkState
    message: str | None = None
    seconds: float | None = None


class LinkFeed:
    """The state now, and its changes for everyone who follows."""

    def __init__(self) -> None:
        self.change = LinkChange(LinkState.OFFLINE)
        self._listeners: list[asyncio.Queue[LinkChange | None]] = []
        self._closed = False
        self._waiting = False

    def signal(self, signal: LinkSignal, message: str | None = None) -> None:
        """Move by the table; what changes nothing is told to nobody."""
        change = LinkChange(TABLE[self.change.state][signal], message)
        if change != self.change:
            self.change = change
            if not self._waiting:
                self._tell(change)

    def say(self, message: str) -> None:
        """A word on the state as it is: how something that takes long goes on."""
        self.change = LinkChange(self.change.state, message)
        if not self._waiting:
            self._tell(self.change)

    def wait(self, seconds: float, message: str) -> None:
        """Say ``waiting`` until :meth:`resume`; the state beneath goes on moving, unsaid."""
        self._waiting = True
        self._tell(LinkChange(LinkState.WAITING, message, seconds))

    def resume(self) -> None:
        """The wait is over: say where the link is."""
        if self._waiting:
            self._waiting = False
            self._tell(self.change)

    def _tell(self, change: LinkChange) -> None:
        for queue in self._listeners:
            queue.put_nowait(change)

    def follow(self) -> AsyncIterator[LinkChange]:
        """The state now, and every change from this call on, until :meth:`close`."""
        queue: asyncio.Queue[LinkChange | None] = asyncio.Queue()
        queue.put_nowait(self.change)
        if self._closed:
            queue.put_nowait(None)
        else:
            self._listeners.append(queue)
        return self._changes(queue)

    def close(self) -> None:
        """Go offline for good; every follower's changes end."""
        self.signal(LinkSignal.CLOSE)
        self._closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    async def _changes(self, queue: asyncio.Queue[LinkChange | None]) -> AsyncIterator[LinkChange]:
        try:
            while (change := await queue.get()) is not None:
                yield change
        finally:
            if queue in self._listeners:
                self._listeners.remove(queue)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits between attempts: ``first`` · 2^(n-1) seconds, at most ``longest``, spread by ``jitter``."""

    first: float = 0.2
    longest: float = 30.0
    jitter: float = 0.1

    def wait(self, failures: int, random: Callable[[], float]) -> float:
        """Seconds before the attempt after ``failures`` failed ones; ``random`` gives 0 to 1."""
        if failures <= 0:
            return 0.0
        base = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return base * (1.0 - self.jitter + 2.0 * self.jitter * random())
