"""Work on a sandbox's folder that is waited for when it is cancelled: a thread cannot be stopped, and what it
makes or writes afterwards would be left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from session.base.tasks import over

T = TypeVar("T")


def _nothing() -> None:
    pass


def _kept(made: object) -> None:
    del made


async def to_the_end(
    work: Callable[[], T], *, stop: Callable[[], None] = _nothing, undo: Callable[[T], None] = _kept
) -> T:
    """What ``work`` returns, which runs in a thread. When this is cancelled, ``stop`` is called at once and
    ``undo`` with what was made. However often it is cancelled, it returns when both have ended."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop()
        await over(working)
        if not working.cancelled() and working.exception() is None:
            undoing = asyncio.ensure_future(asyncio.to_thread(undo, working.result()))
            await over(undoing)
            undoing.result()
        raise
