"""Waiting for a lock that all processes of a project share: told after a second, bounded, and stoppable.

The process that holds the lock writes its id and command into the locked file, so that the others can say
for whom they wait. The file's content means nothing while nobody holds the lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from edits.files.text import FileError
from edits.hunk import RefusalCode

TELL_AFTER = 1.0
"""Seconds of waiting after which it is told."""
LONGEST = 60.0
"""Seconds after which the wait is given up."""
LONGEST_FOR_STOPPED = 10.0
"""The same for a holder that is stopped (SIGSTOP, Ctrl+Z): it does not go on by itself."""
_FIRST_NAP, _LONGEST_NAP = 0.001, 0.05
_LINE = 200
"""Most bytes that are read of what a holder wrote about itself."""
_SUBCOMMAND = re.compile(r"[a-z]{2,12}")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock; ``pid`` is 0 where it is not known."""

    pid: int = 0
    command: str = ""
    stopped: bool = False

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        command = f" ({self.command})" if self.command else ""
        return f"process {self.pid}{command}"

    @property
    def remedy(self) -> str:
        """What the user can do about it."""
        if not self.pid:
            return "try again when it is done"
        if self.stopped:
            return f"it is stopped: continue it (kill -CONT {self.pid}) or end it, then try again"
        return f"try again when it is done, or end it (kill {self.pid})"


class LockHeldError(FileError):
    """The lock was not to be had; the message says who holds it and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(RefusalCode.IO, message)


class LockWait:
    """How the threads of this process wait for such locks. All methods are for any thread."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = lambda line: None
        """Called with a line for the user when a wait takes longer than a second, in the waiting thread."""
        self._stops = 0
        """How often all waits were stopped."""
        self._stopped = threading.Condition()

    def stop(self) -> None:
        """Give up every wait that goes on now."""
        with self._stopped:
            self._stops += 1
            self._stopped.notify_all()

    def acquire(self, descriptor: int, what: str, longest: float = LONGEST, *, signed: bool = True) -> None:
        """Lock the open file ``descriptor``, which is ``what``. Closing it gives the lock up.

        ``signed`` says that the file's content is who holds the lock; else it is left alone. Raises
        LockHeldError when that takes too long or is stopped, OSError where it cannot be locked.
        """
        with self._stopped:
            stops = self._stops
        began, nap, told = monotonic(), _FIRST_NAP, False

        def holder() -> Holder:
            return holder_of(descriptor) if signed else Holder()

        while not _locked(descriptor):
            with self._stopped:
                if self._stopped.wait_for(lambda: self._stops != stops, nap):
                    raise LockHeldError(f"stopped waiting for {holder()}, which holds {what}")
            nap = min(nap * 2, _LONGEST_NAP)
            waited = monotonic() - began
            if waited < min(TELL_AFTER, longest):
                continue
            by = holder()
            if waited >= (min(longest, LONGEST_FOR_STOPPED) if by.stopped else longest):
                raise LockHeldError(f"{by} holds {what}; {by.remedy}")
            if not told:
                told = True
                self.tell(f"waiting for {by}, which holds {what}{' and is stopped' if by.stopped else ''}")
        if signed:
            sign(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sign(descriptor: int) -> None:
    """Write who holds the lock, unless the same process held it last."""
    line = f"{os.getpid()} {command_name()}".encode("utf-8", "replace")[:_LINE] + b"\n"
    with suppress(OSError):  # on a full disk others learn less, and nothing else is lost
        if os.pread(descriptor, _LINE + 1, 0) != line:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, line, 0)


def holder_of(descriptor: int) -> Holder:
    """Who signed the open file last."""
    try:
        pid, _, command = os.pread(descriptor, _LINE, 0).decode("utf-8", "replace").partition(" ")
    except OSError:
        return Holder()
    if not re.fullmatch("[0-9]{1,9}", pid):
        return Holder()
    return Holder(int(pid), command.strip(), is_stopped(int(pid)))


def command_name() -> str:
    """This process's command as in ``spark exec``, without what may be private."""
    name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    return f"{name} {first}" if _SUBCOMMAND.fullmatch(first) else name


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped; false where the system does not say."""
    import psutil  # only once somebody has waited

    try:
        return psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    except psutil.Error:
        return False
