"""Reading a busy socket once a millisecond, instead of once for each packet.

At 10,000 tokens a second a server sends thousands of packets a second, and waking up for each of them
costs more than all the work on the tokens. Nobody sees a token a millisecond later.
"""

from __future__ import annotations

import asyncio

GAP_SECONDS = 0.001
"""Data that follow other data sooner than this make the socket rest for as long."""


class ReadPacer:
    """Pauses a transport between reads while data come fast, and while its reader asks it to (``hold``)."""

    def __init__(self, transport: asyncio.Transport | None) -> None:
        """``transport`` is the one below TLS: only its pause lets the loop sleep. None for no pauses."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._last = 0.0
        self._resting: asyncio.TimerHandle | None = None
        self._held = False

    def received(self) -> None:
        """Data were read."""
        now = self._loop.time()
        if now - self._last < 2 * GAP_SECONDS and self._resting is None and self._transport is not None:
            self._transport.pause_reading()
            self._resting = self._loop.call_later(GAP_SECONDS, self._rested)
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
        if not self._held and self._transport is not None:
            self._transport.resume_reading()
