"""Waits for a pause in typing, for work that would delay key presses."""

from __future__ import annotations

import asyncio
import contextlib
from time import monotonic

from session.events import Event, PromptSubmitted

QUIET = 0.5
"""Seconds without a key press that count as a pause."""


class TypingPause:
    """Waits for the first pause in typing, or until the work is needed; no wait if no key was pressed."""

    def __init__(self, quiet: float = QUIET) -> None:
        self._quiet = quiet
        self._typed: float | None = None
        self._needed = asyncio.Event()

    def typed(self) -> None:
        """Record that a key was pressed."""
        self._typed = monotonic()

    def take(self, event: Event) -> None:
        """The window of a submitted prompt needs the delayed work."""
        if isinstance(event, PromptSubmitted):
            self.needed()

    def needed(self) -> None:
        """End the wait: the delayed work is needed now."""
        self._needed.set()

    @property
    def over(self) -> bool:
        """Whether the delayed work was needed already."""
        return self._needed.is_set()

    async def wait(self) -> None:
        """Wait for a pause, or until the work is needed."""
        while self._typed is not None and not self._needed.is_set():
            left = self._typed + self._quiet - monotonic()
            if left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._needed.wait()
