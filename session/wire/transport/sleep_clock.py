"""How long this machine has slept: the loop's clock stands still then, and sockets die unnoticed."""

from __future__ import annotations

import time
from collections.abc import Callable

_SLEPT_SECONDS = 5.0
"""A shorter sleep kills no socket, and the two clocks drift apart a little by themselves."""


def slept_seconds() -> float:
    """Seconds this machine has been suspended, from an arbitrary start: only differences mean something.

    Where there is no clock that counts sleep (Linux has one), the wall clock stands in: setting it by more
    than the threshold then costs a reconnection and nothing else.
    """
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    now = time.time() if boot is None else time.clock_gettime(boot)
    return now - time.monotonic()


class SleepClock:
    """Notices that the machine has slept; ``slept`` gives the seconds it has been suspended so far."""

    def __init__(self, slept: Callable[[], float]) -> None:
        self._slept = slept
        self._before = slept()

    def has_slept(self) -> bool:
        """Whether the machine has slept since the last call."""
        slept, before = self._slept(), self._before
        self._before = slept
        return abs(slept - before) >= _SLEPT_SECONDS
