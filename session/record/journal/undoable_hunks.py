"""Tracks from events which hunks of a session can be undone, and which can be landed again."""

from __future__ import annotations

from collections.abc import Iterable

from session.base.events import Event, HunkLanded, HunkRedone, HunkUndone


class UndoableHunks:
    """``landed`` and ``undone`` hold hunks and their files, the newest last."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.landed: dict[str, str] = {}
        self.undone: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        """The turn of each hunk, in the order in which the hunks first landed."""
        for event in events:
            self.take(event)

    @property
    def last_turn(self) -> dict[str, str]:
        """The landed hunks, and their files, of the last turn that has any."""
        turns = [turn for hunk, turn in self._turns.items() if hunk in self.landed]
        last = turns[-1] if turns else None
        return {
            hunk: self.landed[hunk]
            for hunk, turn in self._turns.items()
            if turn == last and hunk in self.landed
        }

    def landed_in(self, path: str) -> list[str]:
        """The landed hunks of a file, the oldest first."""
        return [hunk for hunk, where in self.landed.items() if where == path]

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case HunkLanded(status=status) if status != "already_applied":
                self.landed[event.hunk] = event.moved_to or event.path
                self._turns.setdefault(event.hunk, event.turn)
            case HunkUndone():
                self.landed.pop(event.hunk, None)
                self.undone[event.hunk] = event.place
            case HunkRedone():
                self.undone.pop(event.hunk, None)
                self.landed[event.hunk] = event.place
            case _:
                pass
