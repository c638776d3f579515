"""Wraps a long conversation for another width in slices: what is in sight first, and keys are heard between.

Until its turn comes an entry keeps the rows of the old width.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import monotonic

from tui.chat.painting import LinePainter
from tui.chat.read_view import ReadView
from tui.chat.reading import Move
from tui.chat.transcript.entry import Entry

SLICE = 0.004
"""Seconds of work before other work has its turn, and of rest between two slices."""


class Rewrapping:
    """Wraps the entries of one chat pane. What is read stays where it is: the first row in sight, the cursor,
    the selection."""

    def __init__(self, view: ReadView, painter: LinePainter) -> None:
        self._view = view
        self._painter = painter
        self._handle: asyncio.TimerHandle | None = None
        self._entry: Entry | None = None
        """The entry that is being wrapped, and the steps that are left of that."""
        self._steps: Iterator[None] = iter(())

    def begin(self, width: int) -> None:
        """The pane has another size: wrap for ``width`` cells."""
        self.cancel()
        view = self._view
        view.transcript.width = width
        view.transcript.settle()
        self._slice()
        self._stay_in_sight()
        view.refresh()

    def cancel(self) -> None:
        """Wrap no more."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._entry = None

    def _slice(self) -> None:
        view = self._view
        rows = view.transcript
        first = view.reading.spot(view.top)
        offset = view.top - (view.reading.point(first) or (view.top, 0))[0]
        in_sight, total = self._in_sight(), rows.total
        moves, left = self._wrap(in_sight, monotonic() + SLICE)
        if moves:
            rows.recount()
            view.reading.move_places(moves)
            seen = any(entry in moves for entry in rows.entries[in_sight.start : in_sight.stop])
            point = view.reading.point(view.reading.moved(first, moves))
            if view.following:
                self._scroll_to(view.top + rows.total - total)
            elif point is not None:
                self._scroll_to(point[0] + offset)
            if seen:
                self._stay_in_sight()
            if seen or self._painter.thumb != self._painter.drawn_thumb:
                view.refresh()
        self._handle = asyncio.get_running_loop().call_later(SLICE, self._slice) if left else None

    def _scroll_to(self, top: int) -> None:
        """Have row ``top`` first, which shows what the first row showed."""
        self._painter.drawn_top += top - self._view.top
        self._view.top = top

    def _stay_in_sight(self) -> None:
        view = self._view
        end = max(0, view.transcript.total - view.size.height)
        view.top = end if view.following else max(0, min(view.top, end))

    def _in_sight(self) -> range:
        """The entries of which rows are in the pane, by their number."""
        view = self._view
        first, last = (
            view.transcript.number_at(row) for row in (view.top, view.top + max(0, view.size.height - 1))
        )
        return range(first, last + 1)

    def _wrap(self, in_sight: range, until: float) -> tuple[dict[Entry, Move], bool]:
        """Wrap the nearest entries. Returns the rows that changed, and whether there is more to do."""
        rows = self._view.transcript
        known = enumerate(rows.entries[: rows.settled])
        waiting = [(number, entry) for number, entry in known if entry.width != rows.width]
        waiting.sort(key=lambda each: max(in_sight.start - each[0], each[0] - in_sight.stop + 1, 0))
        if any(entry is self._entry for _, entry in waiting):
            waiting.sort(key=lambda each: each[1] is not self._entry)
        moves: dict[Entry, Move] = {}
        for _, entry in waiting:
            if entry is not self._entry:
                self._entry, self._steps = entry, entry.rewrap(rows.width)
            while True:
                before = entry.rows
                if next(self._steps, self) is self:
                    break
                if monotonic() > until:
                    return moves, True
            self._entry = None
            moves[entry] = Move(before, entry.rows)
            if monotonic() > until:
                return moves, len(moves) < len(waiting)
        return moves, False
