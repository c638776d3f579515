"""Limits the frame rate: any number of changes ask for one frame, which draws the newest state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FRAME = 1 / 30
"""The least time between two frames, in seconds."""


class Pacer:
    """Calls ``paint`` at most once per ``interval``, and only when asked. While ``ready`` returns false (the
    terminal has not taken the last frame) frames are skipped; the next one draws the newest state."""

    def __init__(
        self,
        paint: Callable[[], object],
        interval: float = FRAME,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._paint = paint
        self._ready = ready
        self._interval = interval
        self._last = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Ask for a frame: now if the last one is long enough ago, else when the interval is over."""
        if self._handle is None:
            loop = asyncio.get_running_loop()
            delay = max(0.0, self._last + self._interval - loop.time())
            self._handle = loop.call_later(delay, self._run, loop)

    def cancel(self) -> None:
        """Cancel the frame that was asked for."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = None
        self._last = loop.time()
        if self._ready():
            self._paint()
        else:
            self.request()
