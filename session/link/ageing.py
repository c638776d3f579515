"""When a line is to go: too old, too long idle, or dead since the machine slept or changed its network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from session.link.line import Line
from session.transport.network import Judge, Standing
from session.transport.service import Service

_LIFE_USED = 0.9
"""Of a connection's lifetime; the rest is for the answer that runs when its time has come."""
_IDLE_USED = 0.9
_QUIET_SECONDS = 5.0
"""After an answer, before its line may be replaced: a turn of tool calls asks again at once."""
_LOOK_SECONDS = 10.0
"""Between looks at the clocks."""
_SLEPT_SECONDS = 5.0


class Ageing:
    """Judges lines. ``used`` is the loop's time at which somebody asked, typed, or was answered last."""

    def __init__(self, service: Service, slept: Callable[[], float], judge: Judge) -> None:
        self.used = 0.0
        self._service = service
        self._slept = slept
        self._slept_before = slept()
        self._judge = judge

    def has_slept(self) -> bool:
        """Whether the machine has slept since this was asked last: every socket is dead then."""
        slept, before = self._slept(), self._slept_before
        self._slept_before = slept
        return abs(slept - before) >= _SLEPT_SECONDS

    def has_no_network(self, line: Line, *, in_use: bool) -> bool:
        """Whether the network under ``line`` is another; one that still may live is left to its answer.

        What already looked so when the line was new (rules that lead each protocol its own way do that)
        says nothing.
        """
        stands = line.stands(self._judge)
        if line.stood is None:
            line.stood = stands
        if stands is line.stood:
            return False
        moved = stands is Standing.MOVED and not in_use and not line.shared.in_use
        return moved or stands is Standing.GONE

    def is_old(self, line: Line) -> bool:
        """Whether most of its lifetime is over."""
        life = self._service.lifetime_seconds
        return life is not None and _now() - line.opened >= life * _LIFE_USED

    def is_due(self, line: Line, *, in_use: bool) -> bool:
        """Whether the active line is to be replaced now."""
        busy = in_use or line.shared.in_use
        return self.is_old(line) and not busy and _now() - self.used >= _QUIET_SECONDS

    def is_idle(self, line: Line) -> bool:
        """Whether nobody has used ``line``, the active one, for so long that it may rest."""
        limit = self._service.idle_seconds
        if limit is None or line.shared.in_use:
            return False
        return _now() - self.used >= limit * _IDLE_USED

    def next_look(self) -> float:
        """Seconds until all this is to be asked again."""
        life = self._service.lifetime_seconds or _LOOK_SECONDS
        idle = self._service.idle_seconds or _LOOK_SECONDS
        return max(0.05, min(_LOOK_SECONDS, life / 20, idle / 20))


def _now() -> float:
    return asyncio.get_running_loop().time()
