"""Painting at a bounded rate: any number of changes ask for one frame, drawn from the newest state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FRAME = 1 / 30
"""Seconds between two frames."""


class Pacer:
    """Calls ``paint`` once per ``interval`` at most, and never when nothing asked for it.

    While ``ready`` says no (the terminal has not taken the last frame) frames are skipped; the
    one painted afterwards shows the newest state.
    """

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
        """Ask for a frame: at once when the last one is long ago, else when its time has come."""
        if self._handle is None:
            loop = asyncio.get_running_loop()
            delay = max(0.0, self._last + self._interval - loop.time())
            self._handle = loop.call_later(delay, self._run, loop)

    def cancel(self) -> None:
        """Drop the frame that was asked for."""
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
