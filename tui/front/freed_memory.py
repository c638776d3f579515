"""What the C library does with freed memory: it would keep a pool for each thread, and large pieces in it."""

from __future__ import annotations

import sys

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""``M_ARENA_MAX`` of glibc's mallopt(3): the most pools of free memory, eight for each core otherwise. And
``M_MMAP_THRESHOLD``: from how many bytes on a piece is taken from the system alone."""
LARGE = 128 * 1024
"""Bytes of a piece that goes back to the system as soon as it is freed. That is what glibc begins with, but
after each larger piece that is freed it would take that size, up to 32 MB."""


def keep_little_freed_memory() -> None:
    """Let threads that start from now on share one pool, and large pieces that are freed go back to the
    system, if the C library is able to (glibc is).

    Threads that work in turns, as Python's do, gain little from a pool each, and what one of them has freed
    is of no use to another then. A thread that was started before keeps its pool, so this comes first. Of
    large pieces some are taken at once where an answer of a megabyte is sent again after a cut: kept in the
    pool, small ones soon lie between them.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, LARGE)
    except (AttributeError, OSError):
        # Other C libraries lack this function.
        return
