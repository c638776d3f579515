"""Faults of the disk and of the process, at each call and each step, for tests of what is kept."""

from __future__ import annotations

import errno
import itertools
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

CODES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""A full disk, a full quota, a read-only file system, a broken disk."""


def fatal_step(fatal: int | None) -> Callable[[str], None]:
    """Counts the steps that it is told of, and kills this process at step ``fatal``, from 1."""
    steps = itertools.count(1)

    def step(_name: str) -> None:
        if next(steps) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def killed_at(fatal: int, act: Callable[[Callable[[str], None]], object]) -> bool:
    """Call ``act`` in a process that kills itself at step ``fatal``; whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            act(fatal_step(fatal))
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@contextmanager
def failing(call: str, number: int, code: int) -> Iterator[list[int]]:
    """The ``number``th system call named ``call`` fails with ``code``; gives how many there were."""
    count = [0]
    real = getattr(os, call)

    def fails(*args: object, **options: object) -> object:
        count[0] += 1
        if count[0] == number:
            raise OSError(code, os.strerror(code))
        return real(*args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, call, fails)
        yield count
