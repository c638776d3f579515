"""The edit thread: the one thread in which a session reads its ledger and changes files.

Placing, landing, saving, undoing and locking are done there one after the other, in the order in which
they were asked for, so that no disk ever holds up the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar

from session.project.landing_pause import LandingPause

T = TypeVar("T")


class EditThread:
    """A session's edit thread. The thread itself is started with the first work."""

    def __init__(self, executor: Executor | None = None) -> None:
        """``executor`` runs the work, one piece at a time and in order; by default it is a thread."""
        self._executor = executor or ThreadPoolExecutor(max_workers=1, thread_name_prefix="edits")
        self.landing_pause = LandingPause()
        """Waited for in the edit thread before each hunk is written; for any thread."""

    async def run(self, work: Callable[[], T]) -> T:
        """Do ``work`` in the edit thread and return its result. Work that has begun is not cancelled.

        Raises whatever ``work`` raises.
        """
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def close(self) -> None:
        """Wait for the work that was given, and end the thread."""
        await asyncio.to_thread(self._executor.shutdown)
