"""Sends tokens at a steady rate, measured on an absolute clock: a late wake-up is made up for."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Iterable

from session.partner.script import Close, Stall
from session.partner.server.answer import Frame

_SLACK = 0.0005
"""Tokens due within this many seconds are sent at once, because timers are no finer than that."""
_FRAMES_BETWEEN_YIELDS = 64
"""Frames that are sent without a wait before other tasks get their turn."""


class TokenSchedule:
    """When each token is due. ``rate`` is in tokens per second; infinite means as fast as possible."""

    def __init__(self, rate: float, start: float) -> None:
        self._gap = 0.0 if math.isinf(rate) else 1.0 / rate
        self._due = start

    def wait(self, tokens: int, now: float) -> float:
        """Seconds to wait at ``now`` before the next ``tokens`` tokens go out; 0 for none."""
        self._due += tokens * self._gap
        ahead = self._due - now
        return ahead if ahead > _SLACK else 0.0

    def hold(self, seconds: float) -> None:
        """Move the whole schedule by an intended pause."""
        self._due += seconds


async def paced(
    steps: Iterable[Frame | Stall | Close], rate: float, going: asyncio.Event
) -> AsyncIterator[Frame | Close]:
    """Each frame when it is due. Stalls are waited out, or until ``going`` is set; a close is the last thing
    that comes."""
    clock = asyncio.get_running_loop().time
    schedule = TokenSchedule(rate, clock())
    at_once = 0
    for step in steps:
        if isinstance(step, Stall):
            began = clock()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(going.wait(), step.seconds)
            schedule.hold(min(step.seconds, clock() - began))
            continue
        if isinstance(step, Frame):
            wait = schedule.wait(step.tokens, clock()) if step.tokens else 0.0
            at_once = 0 if wait else at_once + 1
            if wait or at_once % _FRAMES_BETWEEN_YIELDS == 0:
                await asyncio.sleep(wait)
        yield step
        if isinstance(step, Close):
            return
