"""Hunk ids: ``h1``, ``h2`` and so on, none of which is given twice in a project.

The last number given is kept in a file that all processes of the project lock and count up. A process that
must not wait for the disk reserves ids ahead; those that it does not need it gives back.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from edits.files.replacing import sync_folder
from edits.ledger.shared_lock import LockHeldError, LockWait

RESERVED = 32
"""The number of ids that are reserved at once."""
LONGEST_WAIT = 5.0
"""Seconds to wait for another process that counts ids, which takes it a moment."""


class HunkIds:
    """Gives out ids. Any thread may call it.

    ``counter`` is the file with the last number, ``last_used`` finds it where that file says nothing.
    """

    def __init__(self, counter: Path, last_used: Callable[[], int], wait: LockWait) -> None:
        self._counter = counter
        self._last_used = last_used
        self._wait = wait
        self._reserved: deque[int] = deque()
        self._reserves = False
        self._filling = Lock()

    def next(self) -> str:
        """An id that no process was or will be given; reads and writes the disk only if none is reserved."""
        try:
            return f"h{self._reserved.popleft()}"
        except IndexError:
            return f"h{self._count(1)[0]}"

    def reserve(self) -> None:
        """Reserve ids for the calls of :meth:`next` to come, if few are left. Raises OSError."""
        with self._filling:
            self._reserves = True
            if len(self._reserved) <= RESERVED // 2:
                self._reserved.extend(self._count(RESERVED))

    def top_up(self) -> None:
        """Reserve more ids if few are left, in a process that reserves them at all."""
        if self._reserves:
            try:
                self.reserve()
            except OSError:
                # The ids that are left may be enough. If not, `next` raises.
                return

    def give_back(self) -> None:
        """Let go of the reserved ids; the next process uses them if they are still the last ones. Where
        another process keeps the counter, or it cannot be written, they stay unused."""
        with self._filling, suppress(OSError), self._locked() as descriptor:
            self._reserves = False
            reserved, self._reserved = self._reserved, deque()
            last = self._last(descriptor)
            while reserved and reserved[-1] == last:
                reserved.pop()
                last -= 1
            self._write(descriptor, last)

    def _count(self, number: int) -> range:
        with self._locked() as descriptor:
            first = self._last(descriptor) + 1
            self._write(descriptor, first + number - 1)
            return range(first, first + number)

    def _last(self, descriptor: int) -> int:
        said = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        return int(said) if said.isdigit() else self._last_used()

    def _write(self, descriptor: int, number: int) -> None:
        try:
            os.pwrite(descriptor, f"{number:<31}\n".encode(), 0)
            os.fsync(descriptor)
        except OSError as problem:
            problem.filename = str(self._counter)
            raise

    @contextmanager
    def _locked(self) -> Iterator[int]:
        descriptor = os.open(self._counter, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                self._wait.acquire(descriptor, "the counter of hunk ids", LONGEST_WAIT, signed=False)
            except LockHeldError as problem:
                raise TimeoutError(errno.ETIMEDOUT, problem.message) from problem
            if os.fstat(descriptor).st_size == 0:
                sync_folder(self._counter.parent)
            yield descriptor
        finally:
            os.close(descriptor)
