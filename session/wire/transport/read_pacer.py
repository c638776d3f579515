"""Reading a busy socket a hundred times a second, instead of once for each packet.

At 1,000 tokens a second and more, waking up for each of them costs more than all the work on the tokens.
Nobody sees a token some milliseconds later: the screen shows thirty frames a second.
"""

from __future__ import annotations

import asyncio

GAP_SECONDS = 0.001
"""Data that follow other data sooner than twice this make the socket rest, for as long as this at first."""
LONGEST_REST = 0.008
"""Each rest that ends with data waiting makes the next one twice as long, up to this."""
LARGE = 32 * 1024
"""No rest follows a read of this many bytes: so many at once are worth waking up for."""


class ReadPacer:
    """Pauses a transport between reads while data come fast, and while its reader asks it to (``hold``)."""

    def __init__(self, transport: asyncio.Transport | None) -> None:
        """``transport`` is the one below TLS: only its pause lets the loop sleep. None for no pauses."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._last = self._awake = float("-inf")
        """When data were read last, and when the last rest ended."""
        self._rest = GAP_SECONDS
        self._resting: asyncio.TimerHandle | None = None
        self._held = False

    def received(self, size: int) -> None:
        """``size`` bytes were read."""
        now = self._loop.time()
        waited = now - self._awake < GAP_SECONDS
        self._rest = min(2 * self._rest, LONGEST_REST) if waited else GAP_SECONDS
        quick = size < LARGE and (waited or now - self._last < 2 * GAP_SECONDS)
        if quick and self._resting is None and self._transport is not None:
            self._transport.pause_reading()
            self._resting = self._loop.call_later(self._rest, self._rested)
        self._last = now

    def hold(self) -> None:
        """Read nothing until :meth:`release`: whoever takes the data is behind."""
        self._held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def release(self) -> None:
        """Read again."""
        self._held = False
        if self._transport is not None and self._resting is None:
            self._transport.resume_reading()

    def stop(self) -> None:
        """The connection is over."""
        if self._resting is not None:
            self._resting.cancel()

    def _rested(self) -> None:
        self._resting = None
        self._awake = self._loop.time()
        if not self._held and self._transport is not None:
            self._transport.resume_reading()
