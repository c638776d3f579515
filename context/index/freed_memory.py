"""What the C library does with freed memory: it would keep most of it."""

from __future__ import annotations

import sys


def release_memory() -> None:
    """Return freed memory to the system, if the C library is able to (glibc is)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        # Other C libraries lack this function.
        return
