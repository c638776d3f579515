"""Tells, in line mode and in ``spark exec``, that nothing new has come in a turn for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from session.base.events import Event
from tui.front.words.silence import Silence

LOOK = 1.0
"""Seconds between two looks."""


@asynccontextmanager
async def telling_silence(
    tell: Callable[[str], None], waits: Callable[[], bool] = lambda: False
) -> AsyncIterator[Callable[[Event], object]]:
    """Yield what each event of the session is to be given to. While this lasts, ``tell`` is called with a
    line, once a turn, except where ``waits`` says that the turn waits for the user."""
    silence = Silence(monotonic())

    async def watch() -> None:
        while True:
            await asyncio.sleep(LOOK)
            if waits():
                silence.broken(monotonic())
            elif told := silence.line(monotonic(), "Ctrl+C"):
                tell(told)

    watching = asyncio.create_task(watch(), name="silence")
    try:
        yield lambda event: silence.heard(event, monotonic())
    finally:
        watching.cancel()
