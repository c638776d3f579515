"""Giving memory back to the system: the C library keeps what was freed, unless it is asked."""

from __future__ import annotations

import sys


def release_memory() -> None:
    """Hand freed memory back, where the C library can (glibc); else nothing."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        # Another C library: it does this by itself, or not at all.
        return
