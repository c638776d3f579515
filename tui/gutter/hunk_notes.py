"""Notes where hunks that need the user's OK would land, and where some were refused."""

from __future__ import annotations

from dataclasses import dataclass

from session import events as said
from tui.gutter.signs import Notes

SOURCE = "hunks"


@dataclass(frozen=True, slots=True)
class _Aim:
    path: str
    start: int
    end: int


class HunkNotes:
    """Keeps the notes of held and refused hunks up to date with the session's events."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._aims: dict[str, _Aim] = {}
        """The lines that a hunk aims at, from 1, the end one past the last."""

    def take(self, event: said.Event) -> None:
        """Take one event in. A refused hunk is noted until the next prompt."""
        match event:
            case said.HunkAimed(hunk=hunk, path=path, start=start, end=end):
                self._aims[hunk] = _Aim(path, start, end)
            case said.HunkHeld(hunk=hunk) if aim := self._aims.get(hunk):
                rows = range(aim.start - 1, max(aim.start, aim.end - 1))
                self._notes.put(_source(hunk), aim.path, dict.fromkeys(rows, "held"))
            case said.HunkRefused(hunk=hunk):
                self._notes.clear(_source(hunk))
                if aim := self._aims.pop(hunk, None):
                    self._notes.put(
                        SOURCE, aim.path, {**self._notes.of(aim.path, SOURCE), aim.start - 1: "refused"}
                    )
            case said.HunkLanded(hunk=hunk) | said.HunkDropped(hunk=hunk):
                self._notes.clear(_source(hunk))
                self._aims.pop(hunk, None)
            case said.PromptSubmitted():
                self._notes.clear(SOURCE)
            case _:
                pass


def _source(hunk: str) -> str:
    return f"{SOURCE} {hunk}"
