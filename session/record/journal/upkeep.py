"""Makes a session's journal durable in a thread of its own, so that nothing waits for the disk."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from threading import Thread

from session.record.journal.journals import Journal

LONGEST_WAIT = 0.5
"""Seconds for which the end of a session waits for a slow disk. What was written is not lost by quitting: the
kernel has it."""


class Upkeep:
    """Runs :meth:`Journal.upkeep` when asked to, one at a time.

    ``ended`` is called on the event loop after each, with the error or None.
    """

    def __init__(self, journal: Journal, ended: Callable[[OSError | None], None]) -> None:
        self._journal = journal
        self._ended = ended
        self._thread: Thread | None = None
        self._again = False

    def request(self) -> None:
        """Make durable what was written until now; returns at once."""
        if self._thread is not None:
            self._again = True
            return
        loop = asyncio.get_running_loop()

        def end(problem: OSError | None) -> None:
            self._thread = None
            self._ended(problem)
            if self._again:
                self._again = False
                self.request()

        self._begin(lambda problem: loop.call_soon_threadsafe(end, problem))

    def finish(self) -> None:
        """Make durable what was written, but wait no longer than ``LONGEST_WAIT`` for it."""
        until = time.monotonic() + LONGEST_WAIT
        if self._thread is not None:
            self._thread.join(LONGEST_WAIT)
            if self._thread.is_alive():
                return
        self._begin(lambda problem: None)
        if self._thread is not None:
            self._thread.join(max(0.0, until - time.monotonic()))

    def _begin(self, tell: Callable[[OSError | None], object]) -> None:
        try:
            work = self._journal.upkeep()
        except OSError as problem:  # too many files are open
            tell(problem)
            return
        if work is None:
            return

        def run() -> None:
            problem = None
            try:
                work()
            except OSError as caught:
                problem = caught
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                tell(problem)

        self._thread = Thread(target=run, name="journal upkeep", daemon=True)
        self._thread.start()
