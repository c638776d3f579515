"""What a piece of code leaves to the garbage collector, which nothing refers to but itself."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def garbage_of(kind: type) -> Iterator[list[object]]:
    """Behind the block, the list holds the objects of ``kind`` that it left in circles."""
    left: list[object] = []
    gc.collect()
    gc.disable()
    try:
        yield left
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left += [each for each in gc.garbage if isinstance(each, kind)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
