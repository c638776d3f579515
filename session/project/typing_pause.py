"""A moment in which nobody types: when to do once what would hold the keys up."""

from __future__ import annotations

import asyncio
import contextlib
from time import monotonic

QUIET = 0.5
"""Seconds without a key that are a pause."""


class Pause:
    """Comes at once where nobody has typed yet, else with the first pause; or when it can wait no longer."""

    def __init__(self, quiet: float = QUIET) -> None:
        self._quiet = quiet
        self._typed: float | None = None
        self._needed = asyncio.Event()

    def typed(self) -> None:
        """A key was pressed."""
        self._typed = monotonic()

    def needed(self) -> None:
        """What is waited with is needed now."""
        self._needed.set()

    async def come(self) -> None:
        """Return in a pause, or once it is needed."""
        while self._typed is not None and not self._needed.is_set():
            left = self._typed + self._quiet - monotonic()
            if left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._needed.wait()
