"""Pauses the garbage collector while a window is built.

A window of a large project takes some hundred thousand values for a moment, none of them in a circle. So a
collection finds nothing, but looks at all of them and holds up every thread: 30 to 80 ms were seen.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile; several threads may be in it. A collector that is off stays off."""
    global _pauses, _was_enabled
    with _LOCK:
        if not _pauses:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _LOCK:
            _pauses -= 1
            if not _pauses and _was_enabled:
                gc.enable()
