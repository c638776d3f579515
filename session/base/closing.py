"""The end of a session and of the app: every wait has a limit, and what takes longer is left behind.

A server that never answers, a disk that hangs or a thread that is stuck must not keep spark from ending.
What spark promises to keep is on disk before: hunks are in the ledger before they are written, and the
journal is written with each event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

_LOGGER = logging.getLogger("spark.closing")
LONGEST = 10.0
"""Seconds that one step of closing a session may take where nobody hurries."""
HURRIED = 0.1
"""Seconds that a wait may still take once the time is up."""


def leave_behind(what: str) -> None:
    """Log that nobody waits for ``what`` any longer."""
    _LOGGER.error("closing did not wait any longer for %s", what)


class Limit:
    """The time that a series of waits has together."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds
        self._hurried = asyncio.Event()

    def hurry(self) -> None:
        """The time is up now."""
        self._hurried.set()

    async def wait(self, doing: Awaitable[object], what: str | Callable[[], str]) -> bool:
        """Wait for ``doing`` until the time is up, and no longer than ``LONGEST``. False if it is left
        behind; ``what`` names it, or is called for its name then. Raises what ``doing`` raises."""
        task = asyncio.ensure_future(doing)
        hurry = asyncio.create_task(self._hurried.wait())
        try:
            seconds = min(LONGEST, max(HURRIED, self._end - monotonic()))
            await asyncio.wait({task, hurry}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and hurry.done():
                await asyncio.wait({task}, timeout=min(seconds, HURRIED))
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            hurry.cancel()
        if task.done():
            task.result()
            return True
        leave_behind(what if isinstance(what, str) else what())
        task.add_done_callback(_ended_late)
        return False


class Closing:
    """Closes the parts of a session one after the other. A part that fails, or never ends, does not keep the
    others open."""

    def __init__(self) -> None:
        self._limit = Limit(float("inf"))

    def hurry(self) -> None:
        """Wait for nothing any longer that is not about to end."""
        self._limit.hurry()

    async def run(self, *steps: tuple[str, Callable[[], Awaitable[object] | None]]) -> None:
        """Do the ``steps``: what is waited for, and how it is closed. Raises the first exception, once all of
        them are done."""
        problem: Exception | None = None
        for what, close in steps:
            try:
                doing = close()
                if doing is not None:
                    await self._limit.wait(doing, what)
            except Exception as caught:  # the other parts are closed all the same
                if problem is not None:
                    _LOGGER.error("failed while closing: %s", what, exc_info=caught)
                problem = problem or caught
        if problem is not None:
            raise problem


def _ended_late(task: asyncio.Future[Any]) -> None:
    """Log what came of it, since nobody else asks."""
    if not task.cancelled() and (problem := task.exception()) is not None:
        _LOGGER.error("failed after it was left behind", exc_info=problem)
