"""Finds the lines that a hunk will replace while the model types it, so that front ends can show them.

The search reads a file, so it runs in the edit thread; at most one search runs for each hunk.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from edits.hunk import Hunk, LineKind
from session.base.events import HunkAimed, Publisher
from session.base.text.sanitize import clean_line
from session.turn.hunk_writer import EditWriter
from session.turn.lane_tasks import LaneTasks


@dataclass(slots=True)
class _OpenHunk:
    """The lines that an open hunk replaces, as far as they are known."""

    path: str
    old: list[str] = field(default_factory=list)
    partial: str = ""
    place: tuple[int, int] | None = None
    searching: bool = False
    complete: bool = False


class TargetLines:
    """Follows the open hunks of one turn, and tells where each would land."""

    def __init__(self, turn: str, writer: EditWriter, tasks: LaneTasks, recorder: Publisher) -> None:
        self._turn = turn
        self._writer = writer
        self._tasks = tasks
        self._publish = recorder.publish
        self._open: dict[str, _OpenHunk] = {}

    def opened(self, hunk: str, path: str) -> None:
        """Begin to follow ``hunk``, an edit of the file ``path``."""
        self._open[hunk] = _OpenHunk(path)

    def typed(self, hunk: str, kind: LineKind, text: str) -> None:
        """Take another piece of a line of ``hunk``. The first new line completes its old lines."""
        known = self._open.get(hunk)
        if known is None or known.complete:
            return
        if kind is LineKind.NEW:
            known.complete = bool(known.old)
        else:
            *lines, known.partial = (known.partial + text).split("\n")
            known.old += lines
            if not lines:
                return
        if known.old and not known.searching:
            known.searching = True
            self._tasks.start(self._search(hunk, known, tuple(known.old)))

    def closed(self, hunk: str) -> None:
        """Stop following ``hunk``, which is whole or has ended."""
        self._open.pop(hunk, None)

    async def find(self, edit: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that a whole hunk would replace now, or None if not known."""
        return await self._tasks.in_edit_thread(lambda: self._writer.place_of(edit))

    def show(self, hunk: str, path: str, place: tuple[int, int]) -> None:
        """Tell front ends where ``hunk`` would land."""
        start, end = place
        self._publish(HunkAimed(turn=self._turn, hunk=hunk, path=clean_line(path), start=start, end=end))

    async def _search(self, hunk: str, known: _OpenHunk, old: tuple[str, ...]) -> None:
        place = await self._tasks.in_edit_thread(lambda: self._writer.lines_of(known.path, old))
        known.searching = False
        if self._open.get(hunk) is not known or place is None or place == known.place:
            return
        known.place = place
        self.show(hunk, known.path, place)
