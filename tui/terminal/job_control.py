"""Suspending spark into the background, from where the shell's ``fg`` brings it back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


def shell_can_continue() -> bool:
    """Whether a shell with job control started spark. Without one, nobody could continue a stopped process.

    Such a shell gives each job a process group of its own; the group of the session's leader has no shell
    above it.
    """
    return os.getsid(0) != os.getpgrp()


def stop_job() -> None:
    """Ask all processes of the job to stop: what runs spark (``uv run``, a script) is part of it, and the
    shell waits for that one."""
    os.killpg(os.getpgrp(), signal.SIGTSTP)


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
