"""The clock of an event loop in the hands of a test: what waits for seconds is due when the test says so."""

from __future__ import annotations

import asyncio

import pytest

TICK = 0.02


class HeldClock:
    """Puts the clock of the running loop ahead, for as long as ``patched`` lasts.

    Only what goes by the loop's clock sees it: its timers and timeouts, and ``loop.time()``.
    """

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        self._loop = asyncio.get_running_loop()
        real = self._loop.time
        patched.setattr(self._loop, "time", lambda: real() + self.ahead)

    def skip(self, seconds: float) -> None:
        """Let so many seconds pass at once."""
        self.ahead += seconds

    async def run(self, seconds: float) -> None:
        """Let so many seconds pass in short ticks, with a round of the loop for each."""
        for _ in range(round(seconds / TICK)):
            self.ahead += TICK
            await asyncio.sleep(0)
