"""Hands every event to every front end that listens; none of them can hold up the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Listeners(Generic[T]):
    """One unbounded queue per listener: events are never lost, and the wire never waits."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[T | None]] = set()
        self._closed = False

    def send(self, event: T) -> None:
        """Put ``event`` in every listener's queue; returns at once."""
        for queue in self._queues:
            queue.put_nowait(event)

    def close(self) -> None:
        """End every listener's stream once it has read what is in its queue."""
        self._closed = True
        for queue in self._queues:
            queue.put_nowait(None)

    def listen(self) -> AsyncIterator[T]:
        """A stream of all events from this call on, until the session closes."""
        queue: asyncio.Queue[T | None] = asyncio.Queue()
        self._queues.add(queue)
        if self._closed:
            queue.put_nowait(None)
        return self._drain(queue)

    async def _drain(self, queue: asyncio.Queue[T | None]) -> AsyncIterator[T]:
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._queues.discard(queue)
