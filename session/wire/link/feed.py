"""Publishes the state of the link to its followers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from session.wire.link.state import LinkChange, LinkState


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
