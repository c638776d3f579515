"""How long this machine has slept: the loop's clock stands still then, sockets die, nobody is told."""

from __future__ import annotations

import time


def slept_seconds() -> float:
    """Seconds this machine has been suspended, from an arbitrary start: only differences mean something.

    Where there is no clock that counts sleep (Linux has one), the wall clock stands in: a clock that
    is set by more than the threshold then costs a reconnection and nothing else.
    """
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    now = time.time() if boot is None else time.clock_gettime(boot)
    return now - time.monotonic()
