"""How long a session goes on without a screen: a table.

It works on while a turn runs or waits, for a limited time; somebody who follows it stops that clock. Nothing
is left when its turns are over. Whoever follows then takes the session over.
"""

from __future__ import annotations

from enum import Enum, auto


class State(Enum):
    """Where a session without a screen stands."""

    ALONE = auto()
    """A turn runs, and nobody follows it: the clock runs."""
    FOLLOWED = auto()
    """A turn runs, and somebody follows it."""
    ENDING = auto()
    """The turn was stopped, and its last write finishes."""
    OVER = auto()
    """Nothing runs any more: the session is closed, and the process ends."""


class Signal(Enum):
    """What can happen to it."""

    JOINED = auto()
    """The first follower came."""
    LEFT = auto()
    """The last follower went."""
    LIMIT = auto()
    """The time is over."""
    END = auto()
    """The process was asked to end."""
    IDLE = auto()
    """No turn runs or waits any more."""


TABLE: dict[tuple[State, Signal], State] = {
    (State.ALONE, Signal.JOINED): State.FOLLOWED,
    (State.ALONE, Signal.LEFT): State.ALONE,
    (State.ALONE, Signal.LIMIT): State.ENDING,
    (State.ALONE, Signal.END): State.ENDING,
    (State.ALONE, Signal.IDLE): State.OVER,
    (State.FOLLOWED, Signal.JOINED): State.FOLLOWED,
    (State.FOLLOWED, Signal.LEFT): State.ALONE,
    (State.FOLLOWED, Signal.LIMIT): State.FOLLOWED,
    (State.FOLLOWED, Signal.END): State.ENDING,
    (State.FOLLOWED, Signal.IDLE): State.OVER,
    (State.ENDING, Signal.JOINED): State.ENDING,
    (State.ENDING, Signal.LEFT): State.ENDING,
    (State.ENDING, Signal.LIMIT): State.ENDING,
    (State.ENDING, Signal.END): State.ENDING,
    (State.ENDING, Signal.IDLE): State.OVER,
    **{(State.OVER, signal): State.OVER for signal in Signal},
}
"""The next state, for every state and signal."""


class Unattended:
    """The life of one session without a screen."""

    def __init__(self, *, followed: bool) -> None:
        self.state = State.FOLLOWED if followed else State.ALONE

    def advance(self, signal: Signal) -> bool:
        """Go to the next state; true if it is another one."""
        before, self.state = self.state, TABLE[self.state, signal]
        return self.state is not before
