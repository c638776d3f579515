"""The states of the link to the model server, how each signal changes them (one table), and the effects.

The rules behind the table:

1. Every way to ``ready`` leads through ``connecting``. ``warming`` between them is left out where the
   server knows no warm-up.
2. A loss that may pass (``lost``) makes the link ``offline``; another attempt follows by itself.
3. A refusal that cannot pass (``refused``) makes it ``failed``; another attempt follows only when somebody
   asks for an answer or changes the settings.
4. A link that nobody has used for long (``rest``) is closed, and ``idle`` until it is wanted.
5. Every signal has a meaning in every state. One that comes at an odd time (a connection that opens just
   after the server's end was reported) changes nothing.

``waiting`` is not in the table: it covers the state beneath while an answer waits for its next attempt.

A feed publishes the state to its followers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum

from session.wire.transport.errors import LinkError


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


_OFFLINE, _CONNECTING, _WARMING = LinkState.OFFLINE, LinkState.CONNECTING, LinkState.WARMING
_READY, _FAILED, _IDLE = LinkState.READY, LinkState.FAILED, LinkState.IDLE

# The columns are the states before, in the order of _COLUMNS.
_COLUMNS = (_OFFLINE, _CONNECTING, _WARMING, _READY, _FAILED, _IDLE)
_ROWS: dict[LinkSignal, tuple[LinkState, ...]] = {
    LinkSignal.DIAL: (_CONNECTING, _CONNECTING, _WARMING, _READY, _CONNECTING, _CONNECTING),
    LinkSignal.OPENED: (_OFFLINE, _WARMING, _WARMING, _READY, _FAILED, _IDLE),
    LinkSignal.WARM: (_OFFLINE, _READY, _READY, _READY, _FAILED, _IDLE),
    LinkSignal.LOST: (_OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE),
    LinkSignal.REFUSED: (_FAILED, _FAILED, _FAILED, _FAILED, _FAILED, _FAILED),
    LinkSignal.REST: (_IDLE, _CONNECTING, _WARMING, _IDLE, _FAILED, _IDLE),
    LinkSignal.CLOSE: (_OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE),
}
TABLE: dict[LinkState, dict[LinkSignal, LinkState]] = {
    before: {signal: after[column] for signal, after in _ROWS.items()}
    for column, before in enumerate(_COLUMNS)
}


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The link moved to ``state``; ``message`` is a line for the user where there is one.

    ``seconds`` belongs to ``waiting``: the time from this change to the next attempt.
    """

    state: LinkState
    message: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Dial:
    """Begin an attempt to connect."""


@dataclass(frozen=True, slots=True)
class Cut:
    """End a connection now."""

    number: int


@dataclass(frozen=True, slots=True)
class Close:
    """End a connection politely, in the background."""

    number: int


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell the followers of the link's state."""

    change: LinkChange


@dataclass(frozen=True, slots=True)
class Supply:
    """Give the connection to everyone who waits for one."""

    number: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell everyone who waits for a connection that there is none."""

    problem: LinkError


Effect = Dial | Cut | Close | Announce | Supply | Refuse


class LinkFeed:
    """The latest change, and a queue of changes for each follower. All calls on the event loop."""

    def __init__(self) -> None:
        self.change = LinkChange(LinkState.OFFLINE)
        self._listeners: list[asyncio.Queue[LinkChange | None]] = []
        self._closed = False
        self._waiting = False

    def announce(self, change: LinkChange) -> None:
        """Tell the followers of ``change``; during :meth:`wait` they hear of it afterwards."""
        self.change = change
        if not self._waiting:
            self._tell(change)

    def say(self, message: str) -> None:
        """Add a message to the state as it is, such as the progress of something that takes long."""
        self.announce(LinkChange(self.change.state, message))

    def wait(self, seconds: float, message: str) -> None:
        """Show ``waiting`` until :meth:`resume`; the state beneath goes on changing unseen."""
        self._waiting = True
        self._tell(LinkChange(LinkState.WAITING, message, seconds))

    def resume(self) -> None:
        """End :meth:`wait` and show the state again."""
        if self._waiting:
            self._waiting = False
            self._tell(self.change)

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
        """End every follower's changes."""
        self._closed = True
        for queue in self._listeners:
            queue.put_nowait(None)

    def _tell(self, change: LinkChange) -> None:
        for queue in self._listeners:
            queue.put_nowait(change)

    async def _changes(self, queue: asyncio.Queue[LinkChange | None]) -> AsyncIterator[LinkChange]:
        try:
            while (change := await queue.get()) is not None:
                yield change
        finally:
            if queue in self._listeners:
                self._listeners.remove(queue)
