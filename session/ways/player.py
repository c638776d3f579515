"""Plays moments at a speed: pause, steps and jumps. It has no clock: the caller says how much time passed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import Enum, auto
from typing import Literal

from session.base.events import Event, HunkLanded, PromptSubmitted
from session.ways.recording import Moment

MOST_AT_ONCE = 500
"""Events that are due at one moment and are played before keys are looked at again."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
Unit = Literal["event", "hunk", "turn"]


class State(Enum):
    """What the player does."""

    PLAYING = auto()
    PAUSED = auto()
    ENDED = auto()


class Signal(Enum):
    """What happens to it."""

    TOGGLE = auto()
    SEEK = auto()
    LAST = auto()
    """The last moment was played."""


NEXT = {
    (State.PLAYING, Signal.TOGGLE): State.PAUSED,
    (State.PAUSED, Signal.TOGGLE): State.PLAYING,
    (State.ENDED, Signal.TOGGLE): State.PLAYING,
    (State.PLAYING, Signal.SEEK): State.PAUSED,
    (State.PAUSED, Signal.SEEK): State.PAUSED,
    (State.ENDED, Signal.SEEK): State.PAUSED,
    (State.PLAYING, Signal.LAST): State.ENDED,
    (State.PAUSED, Signal.LAST): State.ENDED,
    (State.ENDED, Signal.LAST): State.ENDED,
}


class Player:
    """The player of one recording. ``position`` is the number of moments that were played."""

    def __init__(self, moments: Sequence[Moment], speed: float = 1.0) -> None:
        self.moments = moments
        self.speed = speed
        self.position = 0
        self.state = State.PLAYING
        self._clock = 0.0
        hunks = [at + 1 for at, each in enumerate(moments) if isinstance(each.event, HunkLanded)]
        turns = [at + 1 for at, each in enumerate(moments) if isinstance(each.event, PromptSubmitted)]
        self._stops: dict[Unit, Sequence[int]] = {
            "event": range(1, len(moments) + 1),
            "hunk": hunks,
            "turn": turns,
        }

    @property
    def wait(self) -> float | None:
        """Seconds until the next moment is due; None where nothing comes by itself."""
        if self.state is not State.PLAYING or self.position >= len(self.moments):
            return None
        return max(0.0, self.moments[self.position].time - self._clock) / self.speed

    @property
    def turn(self) -> int:
        """The number of turns that have begun."""
        return bisect_right(self._stops["turn"], self.position)

    @property
    def hunk(self) -> str | None:
        """The hunk that landed last; None before the first."""
        at = bisect_right(self._stops["hunk"], self.position)
        if not at:
            return None
        event = self.moments[self._stops["hunk"][at - 1] - 1].event
        return event.hunk if isinstance(event, HunkLanded) else None

    def toggle(self) -> None:
        """Pause, or go on; from the end, begin anew (the caller shows an empty screen then)."""
        if self.state is State.ENDED:
            self.position, self._clock = 0, 0.0
        self._signal(Signal.TOGGLE)

    def faster(self, by: int) -> None:
        """Take the next speed, or the one before."""
        nearest = min(range(len(SPEEDS)), key=lambda at: abs(SPEEDS[at] - self.speed))
        self.speed = SPEEDS[max(0, min(nearest + by, len(SPEEDS) - 1))]

    def advance(self, seconds: float) -> list[Event]:
        """Let time pass, and return the events that are due; of very many the first."""
        if self.state is not State.PLAYING:
            return []
        self._clock += seconds * self.speed
        before = self.position
        last = min(len(self.moments), before + MOST_AT_ONCE)
        while self.position < last and self.moments[self.position].time <= self._clock:
            self.position += 1
        if self.position == len(self.moments):
            self._signal(Signal.LAST)
        return [each.event for each in self.moments[before : self.position]]

    def target(self, unit: Unit, by: int) -> int:
        """The position one ``unit`` further (1) or back (-1): after the next hunk, say."""
        stops = self._stops[unit]
        if by > 0:
            at = bisect_right(stops, self.position)
            return stops[at] if at < len(stops) else len(self.moments)
        at = bisect_left(stops, self.position)
        return stops[at - 1] if at else 0

    def share(self, tenths: int) -> int:
        """The position at so many tenths of the time."""
        end = self.moments[-1].time * tenths / 10 if self.moments else 0.0
        return bisect_left([each.time for each in self.moments], end)

    def seek(self, position: int) -> list[Event]:
        """Go to ``position`` and pause there; the events between, where that is ahead."""
        before = self.position
        self.position = max(0, min(position, len(self.moments)))
        self._clock = self.moments[self.position - 1].time if self.position else 0.0
        self._signal(Signal.LAST if self.position == len(self.moments) else Signal.SEEK)
        return [each.event for each in self.moments[before : self.position]]

    def _signal(self, signal: Signal) -> None:
        self.state = NEXT[self.state, signal]
