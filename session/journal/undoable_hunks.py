"""Which hunks of a session can be taken back, and which landed again, folded from its events."""

from __future__ import annotations

from collections.abc import Iterable

from session.events import Event, HunkLanded, HunkRedone, HunkUndone


class UndoableHunks:
    """``landed`` and ``undone`` are hunks and their files, the newest last."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.landed: dict[str, str] = {}
        self.undone: dict[str, str] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case HunkLanded(status=status) if status != "already_applied":
                self.landed[event.hunk] = event.moved_to or event.path
            case HunkUndone():
                self.landed.pop(event.hunk, None)
                self.undone[event.hunk] = event.path
            case HunkRedone():
                self.undone.pop(event.hunk, None)
                self.landed[event.hunk] = event.path
            case _:
                pass
