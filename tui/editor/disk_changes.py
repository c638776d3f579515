"""Takes into the open files what happens to them on disk: hunks that land, are undone and redone, and changes
from outside of spark."""

from __future__ import annotations

from functools import partial

from session.base.events import HunkLanded, HunkRedone, HunkUndone
from tui.editor.flights import Flights
from tui.editor.marks import Mark, kind_of
from tui.editor.shown_file import ShownFile


class DiskChanges:
    """Reads changed files again, one after the other, and shows what happened there unless the user is at
    work."""

    def __init__(self, file: ShownFile, flights: Flights) -> None:
        self._file = file
        self._flights = flights
        self._kinds: dict[str, str] = {}
        """The kinds of the marks of undone hunks: redone, they are marked as they were."""
        self._taken: list[HunkUndone | HunkRedone] = []
        """Events that were taken in before the session told them."""

    def changed(self, paths: tuple[str, ...]) -> None:
        """Files changed on disk, by whomever."""
        for path in paths:
            if self._file.buffers.of(path) is not None:
                self._file.order.add(partial(self._read_again, path))

    async def _read_again(self, path: str) -> None:
        buffer = self._file.buffers.of(path)
        if buffer is not None:
            await self._file.take_in(buffer)

    async def settled(self) -> None:
        """Wait until everything that was told so far is taken in."""
        await self._file.order.settled()

    def landed(self, event: HunkLanded) -> None:
        """A hunk landed: take it in and mark it."""
        flight = self._flights.landed(event)
        self._flights.settled(event.hunk)
        growth = flight.growth if flight else 0
        path = event.moved_to or event.path

        async def place() -> None:
            self._renamed(event)
            known = "" if event.status == "already_applied" else event.hunk
            await self._place(path, growth, event.start, event.end, known)
            if event.start:
                kind = kind_of(event.added, event.removed)
                self._mark(path, event.hunk, event.start, event.end, kind)
            if flight is not None:
                self._flights.erase(flight)
            self._reveal(path, event.start, event.end)

        self._file.order.add(place)

    def undone(self, event: HunkUndone) -> None:
        """A hunk was undone."""
        if not self._was_taken(event):
            self._file.order.add(lambda: self._undone(event))

    def redone(self, event: HunkRedone) -> None:
        """A hunk was redone."""
        if not self._was_taken(event):
            self._file.order.add(lambda: self._redone(event))

    async def take(self, event: HunkUndone | HunkRedone) -> None:
        """Take in at once what the user just did to a hunk; its event is passed over when it comes."""
        self._taken.append(event)
        taking = self._undone if isinstance(event, HunkUndone) else self._redone
        await self._file.order.run(lambda: taking(event))

    def _was_taken(self, event: HunkUndone | HunkRedone) -> bool:
        if event in self._taken:
            self._taken.remove(event)
            return True
        return False

    async def _undone(self, event: HunkUndone | HunkRedone) -> None:
        self._renamed(event)
        held = self._file.marks.remove(event.hunk)
        growth = 0
        if held:
            growth = (event.end - event.start) - (held[1].end - held[1].start)
            self._kinds[event.hunk] = held[1].kind
        await self._place(event.place, growth, event.start, event.end, event.hunk, undid=True)
        self._reveal(event.place, event.start, event.end)

    async def _redone(self, event: HunkUndone | HunkRedone) -> None:
        self._renamed(event)
        await self._place(event.place, 0, event.start, event.end, event.hunk)
        kind = self._kinds.pop(event.hunk, "changed")
        if event.start:
            self._mark(event.place, event.hunk, event.start, event.end, kind)
        self._reveal(event.place, event.start, event.end)

    def _renamed(self, event: HunkLanded | HunkUndone | HunkRedone) -> None:
        """What is open of a file that moves, unsaved text too, moves with it."""
        if event.moved_to:
            self._file.marks.renamed(event.path, event.moved_to)
            self._file.editor.notes.renamed(event.path, event.moved_to)
            self._file.buffers.renamed(event.path, event.moved_to)

    async def _place(
        self, path: str, growth: int, start: int, end: int, hunk: str, *, undid: bool = False
    ) -> None:
        """Lines ``start`` to ``end`` of ``path`` are new: show them unless the user is at work elsewhere."""
        buffer = self._file.buffers.of(path)
        if buffer is not None:
            await self._file.take_in(buffer, hunk=hunk, undid=undid)
        elif growth:
            come = end - start
            for signs in (self._file.marks, self._file.editor.notes):
                signs.edited(path, max(0, start - 1), max(0, come - growth), come)
        if start and path != self._file.path:
            await self._file.bring(path)

    def _mark(self, path: str, hunk: str, start: int, end: int, kind: str) -> None:
        """Mark a hunk's lines on disk where they are in the text; unsaved text may stand in their place."""
        buffer = self._file.buffers.of(path)
        end = max(end, start)
        row = start - 1 if buffer is None else buffer.row_of(start - 1, end - 1)
        if row is not None:
            self._file.marks.set(path, Mark(hunk, row, row + end - start, kind))

    def _reveal(self, path: str, start: int, end: int) -> None:
        editor = self._file.editor
        if self._file.path == path and start and not self._file.hands_on:
            editor.reveal(start - 1, last=end - 2)
        editor.redraw()
