"""What a follower needs besides the journal: the hunks in flight, and the states that are not journalled."""

from __future__ import annotations

from collections import deque

from session.base.events import (
    ConnectionChanged,
    Event,
    HunkAimed,
    HunkDropped,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    PhaseChanged,
    PromptSubmitted,
    TurnEnded,
)

MOST_PIECES = 20_000
"""The most pieces of a hunk that are kept."""


class CatchUp:
    """Remembers the events that tell how the running turn stands now."""

    def __init__(self) -> None:
        self.turn = ""
        """The running turn, or empty."""
        self._typed: dict[str, deque[HunkTyped]] = {}
        self._aimed: dict[str, HunkAimed] = {}
        self._phase: PhaseChanged | None = None
        self._link: ConnectionChanged | None = None

    def take(self, event: Event) -> None:
        """Something happened."""
        match event:
            case HunkTyped(hunk=hunk):
                if hunk in self._typed:
                    self._typed[hunk].append(event)
            case HunkOpened(hunk=hunk):
                self._typed[hunk] = deque(maxlen=MOST_PIECES)
            case HunkAimed(hunk=hunk):
                self._aimed[hunk] = event
            case HunkLanded(hunk=hunk) | HunkRefused(hunk=hunk) | HunkDropped(hunk=hunk):
                self._typed.pop(hunk, None)
                self._aimed.pop(hunk, None)
            case PhaseChanged():
                self._phase = event
            case ConnectionChanged():
                self._link = event
            case PromptSubmitted(turn=turn):
                self.turn = turn
            case TurnEnded(turn=turn):
                self._typed.clear()
                self._aimed.clear()
                self._phase = None
                if turn == self.turn:
                    self.turn = ""
            case _:
                pass

    def events(self) -> list[Event]:
        """The events that the journal does not have."""
        states = [each for each in (self._link, self._phase) if each is not None]
        typed = [piece for pieces in self._typed.values() for piece in pieces]
        return [*typed, *self._aimed.values(), *states]
