"""Suspending spark into the background, from where the shell's ``fg`` brings it back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def shell_can_continue() -> bool:
    """Whether a shell with job control started spark. Without one, nobody could continue a stopped process.

    Such a shell gives each job a process group of its own; the group of the session's leader has no shell
    above it.
    """
    return os.getsid(0) != os.getpgrp()


def stop_job() -> None:
    """Stop all processes of the job: what runs spark (``uv run``, a script) is part of it, and the shell
    waits for that one. Returns when spark is continued.

    A program that spark is just starting is left out. It belongs to the group until it has a session of its
    own; stopped in that moment, it would hold the thread that starts it in ``vfork``, and with such a thread
    the kernel never reports spark as stopped.
    """
    import psutil  # not at the start, which is measured

    group, own = os.getpgrp(), os.getpid()
    for process in psutil.process_iter(["ppid"]):
        if process.pid == own or process.info["ppid"] == own:
            continue
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) == group:
                os.kill(process.pid, signal.SIGTSTP)
    stop_process()


def stop_process() -> None:
    """Stop this process now. Returns when it is continued."""
    os.kill(os.getpid(), signal.SIGSTOP)


@contextmanager
def allowed_in_background() -> Iterator[None]:
    """While this lasts, the terminal can be restored although the shell has taken it back already."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
