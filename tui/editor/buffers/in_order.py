"""Runs jobs that wait for the disk, in the order in which they were asked for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

Start = Callable[[Coroutine[Any, Any, None], str], None]
"""Starts a background task with a name, and tells of its failure."""


class InOrder:
    """One job at a time, on the event loop. A job that raises does not keep the others from running."""

    def __init__(self, start: Start, name: str) -> None:
        """``name`` says what the jobs do, for the line that tells of a failure."""
        self._start = start
        self._name = name
        self._jobs: deque[Callable[[], Awaitable[None]]] = deque()
        self._running = False

    @property
    def idle(self) -> bool:
        """Whether no job is running or waiting."""
        return not self._running

    def add(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run ``job`` after those that were added before."""
        self._jobs.append(job)
        self._go_on()

    async def run(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run ``job`` in its turn, and return its result."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def told() -> None:
            try:
                result = await job()
            except BaseException as problem:  # whoever waits for the result must hear of its end
                if not done.cancelled():
                    done.set_exception(problem)
                if not isinstance(problem, Exception):
                    raise
            else:
                if not done.cancelled():
                    done.set_result(result)

        self.add(told)
        return await done

    async def settled(self) -> None:
        """Wait until all jobs that were added so far are done."""
        await self.run(_nothing)

    def _go_on(self) -> None:
        if self._jobs and not self._running:
            self._running = True
            self._start(self._run(), self._name)

    async def _run(self) -> None:
        try:
            while self._jobs:
                await self._jobs.popleft()()
        except Exception:  # raised again below: the jobs after it go on
            self._running = False
            self._go_on()
            raise
        self._running = False


async def _nothing() -> None:
    return None
