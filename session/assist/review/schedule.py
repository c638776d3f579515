"""When a review on save runs: at a save, but never while a turn does; and the free part of it: the checks
that the user agreed to, on what changed.

Rules, which the table holds:

1. A save begins a review. One that finds a review running is reviewed after it.
2. A prompt ends a review that runs; it is made again when the turn is over.
3. While a turn runs, saves wait for its end.
4. What runs or waits ends when reviews are turned off.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from enum import StrEnum

from session.assist.review.change import ReviewedChange
from session.assist.review.finding import ReviewFinding, Severity
from session.base.text.sanitize import clean_line
from session.checks.check import Check, Kind
from session.checks.finding import Finding, Status
from session.commands.check_commands import CheckCommands, CheckError


class State(StrEnum):
    """The states of the schedule."""

    IDLE = "idle"
    BUSY = "busy"
    """A turn runs, and nothing was saved."""
    WAITING = "waiting"
    """A turn runs, and a review is due after it."""
    RUNNING = "running"
    AGAIN = "again"
    """A review runs, and another is due after it."""


class Signal(StrEnum):
    """What can happen."""

    SAVED = "saved"
    PROMPT = "prompt"
    TURN_OVER = "turn over"
    DONE = "done"
    OFF = "off"
    """Nothing is reviewed any more."""


TABLE: dict[State, dict[Signal, State]] = {
    State.IDLE: {
        Signal.SAVED: State.RUNNING,
        Signal.PROMPT: State.BUSY,
        Signal.TURN_OVER: State.IDLE,
        Signal.OFF: State.IDLE,
    },
    State.BUSY: {
        Signal.SAVED: State.WAITING,
        Signal.PROMPT: State.BUSY,
        Signal.TURN_OVER: State.IDLE,
        Signal.OFF: State.BUSY,
    },
    State.WAITING: {
        Signal.SAVED: State.WAITING,
        Signal.PROMPT: State.WAITING,
        Signal.TURN_OVER: State.RUNNING,
        Signal.OFF: State.BUSY,
    },
    State.RUNNING: {
        Signal.SAVED: State.AGAIN,
        Signal.PROMPT: State.WAITING,
        Signal.TURN_OVER: State.RUNNING,
        Signal.DONE: State.IDLE,
        Signal.OFF: State.IDLE,
    },
    State.AGAIN: {
        Signal.SAVED: State.AGAIN,
        Signal.PROMPT: State.WAITING,
        Signal.TURN_OVER: State.AGAIN,
        Signal.DONE: State.RUNNING,
        Signal.OFF: State.IDLE,
    },
}
LIVE = frozenset({State.RUNNING, State.AGAIN})


class Schedule:
    """The state, and what follows from a change of it."""

    def __init__(self, *, busy: bool) -> None:
        """``busy`` says that a turn runs."""
        self.state = State.BUSY if busy else State.IDLE

    def begins(self, signal: Signal) -> bool:
        """Take a signal; true if a review is to begin now."""
        before, self.state = self.state, TABLE[self.state].get(signal, self.state)
        return self.state is State.RUNNING and (before not in LIVE or signal is Signal.DONE)


QUICK = frozenset({Kind.SYNTAX, Kind.LINT})
"""The kinds of checks that run on save: those that take moments."""


class SaveChecks:
    """Runs the quick ones of the agreed checks."""

    def __init__(self, checks: CheckCommands) -> None:
        self._checks = checks

    async def findings(self, change: ReviewedChange) -> AsyncGenerator[tuple[str, ReviewFinding], None]:
        """What the checks find on changed lines, each with the name of its check."""
        paths = [file.path for file in change.files]
        try:
            agreed = await self._checks.agreed()
        except CheckError:  # there is none
            return
        for check in agreed:
            taken = [path for path in paths if check.takes(path)]
            if check.kind not in QUICK or not taken:
                continue
            verdict = await self._checks.runner().run(check, taken)
            if verdict.status is Status.RED:
                for found in verdict.findings:
                    if (finding := _finding(found, check, change)) is not None:
                        yield check.name, finding


def _finding(found: Finding, check: Check, change: ReviewedChange) -> ReviewFinding | None:
    file = change.file(found.path)
    if file is None or not 1 <= found.line <= len(file.after) or not file.touches(found.line, found.line):
        return None
    severity = Severity.ERROR if check.kind is Kind.SYNTAX else Severity.WARNING
    message = clean_line(found.message)
    return ReviewFinding(found.path, found.line, found.line, severity, check.name, message, "")
