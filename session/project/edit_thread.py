"""The edit thread: the one thread in which a session reads its ledger and changes files.

Placing, landing, saving, undoing and locking are done there one after the other, in the order in which they
were asked for, so that no disk ever holds up the event loop. The user is told for which process it waits.

A pause in landing: nothing is written while it is undecided whether the user stops the turn.

The first byte of an Esc key is also the first byte of every arrow key. Landing pauses when that byte is
read, and is resumed, or ended by the stop, when it is known which key it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Protocol, TypeVar

from edits.hunk import Guard, Held, Hunk, Landed, Refused
from edits.ledger.ledger import Ledger
from session.base.events import Notice
from session.base.text.sanitize import clean_line
from session.record.journal.recorder import Recorder


class LandingPause:
    """Shared by the thread that reads keys, the event loop and the edit thread. All methods are for any
    thread, and only :meth:`wait` blocks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False

    @property
    def paused(self) -> bool:
        """Whether landing is paused."""
        return self._paused

    def begin(self) -> None:
        """Let no write begin from now on. A write in progress finishes."""
        self._paused = True

    def end(self) -> None:
        """Let writes begin again. Does nothing when landing is not paused."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def look_again(self) -> None:
        """Have the waiting thread ask again whether it is stopped."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, stopped: Callable[[], bool]) -> bool:
        """Wait until a write may begin; false when ``stopped`` says that it must not begin at all."""
        with self._changed:
            self._changed.wait_for(lambda: not self._paused or stopped())
        return not stopped()


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


def tell_waits(ledger: Ledger, recorder: Recorder, *, attended: bool) -> None:
    """From now on publish a notice about each long wait for ``ledger``. Call it on the event loop."""
    loop = asyncio.get_running_loop()
    todo = "; Esc stops waiting" if attended else ""

    def tell(line: str) -> None:
        notice = Notice(level="warning", text=clean_line(f"{line}{todo}"))
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(recorder.publish, notice)

    ledger.wait.tell = tell


class EditWriter(Protocol):
    """Where a lane's hunks go: the project (``hunk_writer.HunkWriter``), or an attempt's files.

    Every method but ``next_id`` is called in the edit thread.
    """

    def next_id(self) -> str:
        """The id of the next hunk. Raises OSError."""
        ...

    def held_by_path(self, path: str) -> Held | None:
        """The guards that hold every edit of ``path``; None where there are none."""
        ...

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) where ``old`` stands now, or None if not in one place."""
        ...

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that ``edit`` would replace now, or None if that is not known."""
        ...

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``edit`` consists of (see ``edits.change.Planner.divide``)."""
        ...

    def meant(self, edit: Hunk) -> str | None:
        """The file whose text the sample ``edit`` is; None where it is not that of one file."""
        ...

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """The result that landing ``edit`` would have now."""
        ...

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """Land ``edit`` as ``hunk``, past the guards in ``allow``."""
        ...

    def recorded(self, hunk: str) -> Landed | None:
        """What is kept of ``hunk`` as landed, if it is."""
        ...

    def take_back(self, hunk: str) -> Landed | Refused:
        """Undo ``hunk``, which has landed: it was a draft."""
        ...
