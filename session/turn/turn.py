"""One turn as a state machine.

A turn prepares its window, waits for the server, streams, settles (the answer is whole, its last
hunks are landing), runs the tools that were called, and may go round again when the model is owed
their results.
It ends in exactly one of three ways, and what is over stays over: a signal that comes late (the
user's key raced the server's last frame) changes nothing.

Rules, which the table holds:

1. Interrupt and failure end a turn from every live phase.
2. Only a settled answer completes; an answer is settled when no hunk of it is still to land.
3. An answer may arrive whole, without a first token before it.
4. A lost answer is waited for again; what landed of it has landed.
"""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """Where a turn is."""

    PREPARING = "preparing"
    WAITING = "waiting"
    STREAMING = "streaming"
    SETTLING = "settling"
    CALLING = "calling"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Signal(StrEnum):
    """What can happen to a turn."""

    SENT = "sent"
    ARRIVED = "arrived"
    ANSWERED = "answered"
    CALLED = "called"
    CONTINUED = "continued"
    SETTLED = "settled"
    INTERRUPT = "interrupt"
    FAIL = "fail"
    LOST = "lost"


_ENDS = {Signal.INTERRUPT: Phase.INTERRUPTED, Signal.FAIL: Phase.FAILED}

TABLE: dict[Phase, dict[Signal, Phase]] = {
    Phase.PREPARING: {Signal.SENT: Phase.WAITING, **_ENDS},
    Phase.WAITING: {
        Signal.ARRIVED: Phase.STREAMING,
        Signal.ANSWERED: Phase.SETTLING,
        Signal.LOST: Phase.WAITING,
        **_ENDS,
    },
    Phase.STREAMING: {
        Signal.ARRIVED: Phase.STREAMING,
        Signal.ANSWERED: Phase.SETTLING,
        Signal.LOST: Phase.WAITING,
        **_ENDS,
    },
    Phase.SETTLING: {
        Signal.CALLED: Phase.CALLING,
        Signal.CONTINUED: Phase.WAITING,
        Signal.SETTLED: Phase.COMPLETED,
        **_ENDS,
    },
    Phase.CALLING: {Signal.CONTINUED: Phase.WAITING, **_ENDS},
    Phase.COMPLETED: {},
    Phase.INTERRUPTED: {},
    Phase.FAILED: {},
}


class IllegalSignalError(Exception):
    """A signal that no rule allows in this phase: a fault of ours, never of the server's."""


class Turn:
    """A turn's name and phase. ``advance`` is its only door."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.phase = Phase.PREPARING

    @property
    def over(self) -> bool:
        """True once nothing can change any more."""
        return not TABLE[self.phase]

    def advance(self, signal: Signal) -> bool:
        """Take ``signal``; true when the phase changed.

        Raises IllegalSignalError for a signal that a live phase does not know.
        """
        if self.over:
            return False
        try:
            following = TABLE[self.phase][signal]
        except KeyError:
            raise IllegalSignalError(f"{signal} while {self.phase} in turn {self.name}") from None
        changed = following is not self.phase
        self.phase = following
        return changed
