"""Limits the frame rate: any number of changes ask for one frame, which draws the newest state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FRAME = 1 / 30
"""The least time between two frames of a stream, in seconds."""
AT_ONCE = 3
"""Frames that are painted at once after a quiet time: a prompt, and the first tokens that answer it."""


class Pacer:
    """Calls ``paint`` when asked: after a quiet time at once, then once per ``interval``.

    While ``ready`` returns false (the terminal has not taken the last frame) frames are skipped; the next one
    draws the newest state."""

    def __init__(
        self,
        paint: Callable[[], object],
        interval: float = FRAME,
        ready: Callable[[], bool] = lambda: True,
        at_once: int = 1,
    ) -> None:
        """``at_once`` is how many frames may come without an interval between them; each costs a quiet
        interval before."""
        self._paint = paint
        self._ready = ready
        self._interval = interval
        self._ahead = (at_once - 1) * interval
        self._due = 0.0
        """When the next frame would be due if every frame took an interval."""
        self._handle: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Ask for a frame: now if there was quiet enough before, else when the interval is over."""
        if self._handle is None:
            loop = asyncio.get_running_loop()
            delay = max(0.0, self._due - self._ahead - loop.time())
            self._handle = loop.call_later(delay, self._run, loop)

    def hurry(self) -> None:
        """Paint the frame that was asked for, if any, without waiting for its time."""
        if self._handle is not None:
            self._handle.cancel()
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(0.0, self._run, loop)

    def cancel(self) -> None:
        """Cancel the frame that was asked for."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = None
        if self._ready():
            self._due = max(self._due, loop.time()) + self._interval
            self._paint()
        else:
            self._due = loop.time() + self._interval + self._ahead
            self.request()
