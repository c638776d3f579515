"""The background tasks of the link. Each ends in one place, where its exception is seen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LOGGER = logging.getLogger("spark.link")


class Background:
    """Runs tasks. Every exception that none of them expected is logged, and then given to ``fault`` with the
    name of what failed.

    All calls on the event loop.
    """

    def __init__(self, fault: Callable[[str, BaseException], None]) -> None:
        self._fault = fault
        self._tasks: set[asyncio.Task[Any]] = set()

    def run(
        self, work: Coroutine[Any, Any, T], name: str, then: Callable[[T], None] | None = None
    ) -> asyncio.Task[T]:
        """Start ``work``; ``then`` gets its result, unless it was cancelled or failed."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, then))
        return task

    def report(self, name: str, error: BaseException) -> None:
        """Log an unexpected ``error`` and hand it on."""
        LOGGER.error("The task %r of the link failed", name, exc_info=error)
        self._fault(name, error)

    async def close(self) -> None:
        """Wait until no task runs."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[T], then: Callable[[T], None] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self.report(task.get_name(), error)
        elif then is not None:
            then(task.result())
