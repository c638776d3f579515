"""How long nothing new has come in a turn, and the line that says so, once a turn, with what stops it; line
mode and ``spark exec`` print it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from session.base.events import (
    AttemptAgain,
    AttemptAnswered,
    AttemptEnded,
    Event,
    FileSaved,
    FilesChanged,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)

STILL = 60.0
"""Seconds without anything new after which a line says so."""
LOOK = 1.0
"""Seconds between two looks."""


class Silence:
    """Follows the events of a session's turns. All times are seconds of one monotonic clock."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._running = False
        self._said = False
        self._calls: dict[str, str] = {}
        """The calls that run, each with the line that says what it does."""
        self._judged: set[int] = set()
        """The attempts of a race whose checks run."""

    def heard(self, event: Event, now: float) -> bool:
        """Take an event; false if it is nothing new. An empty part of an answer is only a sign of life, and
        a saved file is none."""
        if isinstance(event, FileSaved | FilesChanged):
            return False
        if isinstance(event, TextDelta | ReasoningDelta) and not event.text:
            return False
        match event:
            case TurnStarted():
                self._calls.clear()
                self._judged.clear()
                self._running, self._said = True, False
            case TurnEnded():
                self._running = False
            case ToolCalled(call=call, line=line):
                self._calls[call] = line
            case ToolEnded(call=call):
                self._calls.pop(call, None)
            case AttemptAnswered(attempt=attempt):
                self._judged.add(attempt)
            case AttemptEnded(attempt=attempt) | AttemptAgain(attempt=attempt):
                self._judged.discard(attempt)
            case _:
                pass
        self.broken(now)
        return True

    def broken(self, now: float) -> None:
        """Count from now: something else happened, such as the user's answer to a question."""
        self._since = now

    def seconds(self, now: float) -> int:
        """For how long nothing has come."""
        return int(now - self._since)

    def line(self, now: float, stops: str) -> str:
        """What to tell now, or nothing; ``stops`` is how the user stops the turn."""
        silent = self.seconds(now)
        if silent < STILL or self._said or not self._running:
            return ""
        self._said = True
        return f"{self._waited_for()} for {silent} s. {stops} stops the turn."

    def _waited_for(self) -> str:
        if self._calls:
            *_, last = self._calls.values()
            return f"Nothing new has come from {last}"
        if self._judged:
            return f"Checks judge attempt {min(self._judged)}, and nothing new has come"
        return "Nothing new has come from the server"


@asynccontextmanager
async def telling_silence(
    tell: Callable[[str], None], waits: Callable[[], bool] = lambda: False
) -> AsyncIterator[Callable[[Event], object]]:
    """Yield what each event of the session is to be given to. While this lasts, ``tell`` is called with a
    line, once a turn, except where ``waits`` says that the turn waits for the user."""
    silence = Silence(monotonic())

    async def watch() -> None:
        while True:
            await asyncio.sleep(LOOK)
            if waits():
                silence.broken(monotonic())
            elif told := silence.line(monotonic(), "Ctrl+C"):
                tell(told)

    watching = asyncio.create_task(watch(), name="silence")
    try:
        yield lambda event: silence.heard(event, monotonic())
    finally:
        watching.cancel()
