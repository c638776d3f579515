"""What the C library does with freed memory: it would keep most of it, and some for each thread."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's mallopt(3): the most pools of free memory, eight for each core otherwise."""


def share_freed_memory() -> None:
    """Let threads that start from now on share one pool, if the C library is able to (glibc is).

    Threads that work in turns, as Python's do, gain little from a pool each, and what one of them has freed
    is of no use to another then: a session of 300 turns took 5 MB more.
    """
    library = _library()
    try:
        if library is not None:
            library.mallopt(_ARENA_MAX, 1)
    except AttributeError:
        # Other C libraries lack this function.
        return


def release_memory() -> None:
    """Return freed memory to the system, if the C library is able to (glibc is)."""
    library = _library()
    try:
        if library is not None:
            library.malloc_trim(0)
    except AttributeError:
        # Other C libraries lack this function.
        return


def _library() -> ctypes.CDLL | None:
    """The C library of Linux. None where there is none, or on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        return ctypes.CDLL(None)
    except OSError:
        return None
