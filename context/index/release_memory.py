"""Returns freed memory to the system, which the C library keeps otherwise."""

from __future__ import annotations

import sys


def release_memory() -> None:
    """Return freed memory to the system where the C library can (glibc)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        # Another C library has no such call.
        return
