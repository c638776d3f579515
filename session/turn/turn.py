"""One turn as a state machine, and why one failed: a line for the user and a code for programs.

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

import re
from enum import StrEnum
from typing import NamedTuple

from session.base.tasks import fault_line
from session.base.text.sanitize import clean_line
from session.wire.protocol.events import Finished
from session.wire.transport.errors import LinkError


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


_NO_TOOLS = re.compile(
    r"(?:not|n't|that) support (?:tool|function)|tools? param(?:eter)? requires", re.IGNORECASE
)
"""Matches the errors of servers whose model cannot call functions (Ollama, llama.cpp, OpenRouter)."""

INTERNAL = "internal"
"""The code of a fault in spark itself."""


class Failure(NamedTuple):
    """Why a turn failed: a line for the user, and a code for programs."""

    message: str
    code: str


class TurnFailedError(Exception):
    """The turn cannot go on; the message is for the user, ``code`` for programs."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def unfinished(finished: Finished) -> Failure:
    """The reason why an answer ended before it was complete."""
    reason = clean_line(finished.reason or "")
    if "max_output_tokens" in reason:
        message = "the model reached its limit of output tokens; ask it to continue"
        return Failure(message, "max_output_tokens")
    if finished.status == "incomplete":
        message = f"the model stopped before the end of its answer ({reason or 'no reason given'})"
        return Failure(message, "incomplete")
    return Failure(reason or "the server reported that the answer failed", "server")


def explain(problem: BaseException) -> Failure:
    """The failure that ``problem`` means for the turn it ended."""
    if isinstance(problem, LinkError):
        message = clean_line(problem.message)
        if _NO_TOOLS.search(message):
            message += ' Set tools = false for it in config.toml, as in [models."NAME"].'
        return Failure(message, problem.kind.value)
    if isinstance(problem, TurnFailedError):
        return Failure(str(problem), problem.code)
    return Failure(fault_line("running the turn", problem), INTERNAL)
