"""One turn as a state machine.

A turn prepares its window, waits for the server, streams, settles (the answer is whole, its last
hunks are landing), runs the tools that were called, and goes round again when the model is owed their
results. It ends in exactly one of three ways. A signal after the end changes nothing: the user's key
and the server's last frame may cross.

Rules, which the table holds:

1. Interrupt and failure end a turn from every live phase.
2. Only a settled answer completes; an answer is settled when no hunk of it is still to land.
3. An answer may arrive whole, without a first token before it.
4. After the connection lost an answer, the turn waits for its rest; what landed of it stays.
"""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """The phases of a turn."""

    PREPARING = "preparing"
    WAITING = "waiting"
    STREAMING = "streaming"
    SETTLING = "settling"
    CALLING = "calling"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Signal(StrEnum):
    """The events that change a turn's phase."""

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
    """A signal that the table does not allow in this state: a fault in spark, never in the server."""


class Turn:
    """A turn's name and phase. Only ``advance`` changes the phase."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.phase = Phase.PREPARING

    @property
    def over(self) -> bool:
        """True once nothing can change any more."""
        return not TABLE[self.phase]

    def advance(self, signal: Signal) -> bool:
        """Change the phase as ``signal`` demands; true when that is another phase than before.

        Raises IllegalSignalError for a signal that is not allowed in this phase.
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
