"""Waits for pauses in typing, for work that would delay key presses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from time import monotonic

from session.base.events import Event, PromptSubmitted

QUIET = 0.5
"""Seconds without a key press that count as a pause."""
_DRAFT_QUIET = 0.3
"""Seconds without a change of a draft that count as one."""
_SHORTEST_DRAFT = 12
"""Number of characters below which a draft says too little to look for."""
_COMMANDS = ("/", "!")


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


class Rehearsal:
    """Rehearses prompts: has ``build`` called with each draft at which the user pauses, one after the other.

    It builds a window that is not sent. But what that needs of the files is kept in memory, and the window of
    the prompt itself, which is the same in any case, is there in a fraction of the time.
    """

    def __init__(self, build: Callable[[str], Awaitable[object]], quiet: float = _DRAFT_QUIET) -> None:
        self._build = build
        self._quiet = quiet
        self._draft = self._built = ""
        self._changed = asyncio.Event()

    def typed(self, draft: str) -> None:
        """Take what the composer has now."""
        self._draft = draft
        self._changed.set()

    async def run(self) -> None:
        """Rehearse until cancelled."""
        while True:
            await self._changed.wait()
            while self._changed.is_set():
                self._changed.clear()
                await asyncio.sleep(self._quiet)
            draft = self._draft.strip()
            if len(draft) >= _SHORTEST_DRAFT and draft != self._built and not draft.startswith(_COMMANDS):
                self._built = draft
                await self._build(draft)
