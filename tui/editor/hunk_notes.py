"""Notes where hunks that need the user's OK would land, and where some were refused."""

from __future__ import annotations

from dataclasses import dataclass

from session.base import events as said
from tui.editor.signs import Notes

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
        self._held: set[str] = set()

    def take(self, event: said.Event) -> None:
        """Take one event in. A refused hunk is noted until the next prompt."""
        match event:
            case said.HunkAimed(hunk=hunk, path=path, start=start, end=end):
                self._aims[hunk] = _Aim(path, start, end)
                self._note_held(hunk)
            case said.HunkHeld(hunk=hunk):
                self._held.add(hunk)
                self._note_held(hunk)
            case said.HunkRefused(hunk=hunk):
                self._settled(hunk)
                if aim := self._aims.pop(hunk, None):
                    self._notes.put(
                        SOURCE, aim.path, {**self._notes.of(aim.path, SOURCE), aim.start - 1: "refused"}
                    )
            case said.HunkLanded(hunk=hunk) | said.HunkDropped(hunk=hunk):
                self._settled(hunk)
                self._aims.pop(hunk, None)
            case said.PromptSubmitted():
                self._notes.clear(SOURCE)
            case _:
                pass

    def _note_held(self, hunk: str) -> None:
        """Note a held hunk where it aims at, as far as that is known."""
        aim = self._aims.get(hunk)
        if aim is not None and hunk in self._held:
            rows = range(aim.start - 1, max(aim.start, aim.end - 1))
            self._notes.put(_source(hunk), aim.path, dict.fromkeys(rows, "held"))

    def _settled(self, hunk: str) -> None:
        self._held.discard(hunk)
        self._notes.clear(_source(hunk))


def _source(hunk: str) -> str:
    return f"{SOURCE} {hunk}"
