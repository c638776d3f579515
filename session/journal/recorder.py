"""Where a session's events go: its journal, whatever counts and remembers, then those who listen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from session.events import ConnectionChanged, Event, HunkTyped, Notice, ReadingProgress, ToolOutput
from session.journal.journals import Journal
from session.journal.listeners import Listeners
from session.storage.line_files import StoreError

UNJOURNALLED = (HunkTyped, ToolOutput, ConnectionChanged, ReadingProgress)
"""Events that the journal can do without: what they tell is in the hunk, in the call's end, or over by the
next start."""


class Recording:
    """A disk that fails is told once to those who listen; the session goes on without it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._failed = False
        self._listeners: Listeners[Event] = Listeners()
        self._takers: list[tuple[Callable[[Event], None], str]] = []

    def also(self, take: Callable[[Event], None], lost: str = "") -> None:
        """Have ``take`` called with every event to come; ``lost`` says what is missing where that raises
        StoreError."""
        self._takers.append((take, lost))

    def publish(self, event: Event) -> None:
        """Record ``event`` and tell it."""
        if not self._failed and not isinstance(event, UNJOURNALLED):
            try:
                self._journal.write(event)
            except StoreError as problem:
                self._failed = True
                self._listeners.send(Notice(level="error", text=f"{problem}; this session is not recorded"))
        for take, lost in self._takers:
            try:
                take(event)
            except StoreError as problem:
                self._listeners.send(Notice(level="warning", text=f"{problem}; {lost}"))
        self._listeners.send(event)

    def listen(self) -> AsyncIterator[Event]:
        """Every event from now on; ends with :meth:`close`."""
        return self._listeners.listen()

    def close(self) -> None:
        """Close the journal, and end all listening."""
        try:
            self._journal.close()
        except StoreError as problem:
            self._listeners.send(Notice(level="error", text=str(problem)))
        self._listeners.close()
