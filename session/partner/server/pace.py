"""Keeping a rate against an absolute clock: a late wake-up is made up for, nothing drifts."""

from __future__ import annotations

import math

_SLACK = 0.0005
"""Tokens due within this many seconds are sent at once: timers are no finer than that."""


class Pace:
    """When the n-th token is due. ``rate`` is in tokens per second, infinite for as fast as it goes."""

    def __init__(self, rate: float, start: float) -> None:
        self._gap = 0.0 if math.isinf(rate) else 1.0 / rate
        self._due = start

    def wait(self, tokens: int, now: float) -> float:
        """Seconds to wait at ``now`` before the next ``tokens`` tokens go out; 0 for at once."""
        self._due += tokens * self._gap
        ahead = self._due - now
        return ahead if ahead > _SLACK else 0.0

    def hold(self, seconds: float) -> None:
        """Move the whole schedule by a pause that was meant."""
        self._due += seconds
