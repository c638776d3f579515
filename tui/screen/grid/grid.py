"""The cells that the terminal shows, and the writing of those that are to change.

A frame is given piece by piece (:meth:`Grid.paint`); what it takes to show it is the text of
:meth:`Grid.frame`. The grid believes that the terminal shows all that was written to it: where something
else may have written, :meth:`Grid.forget` has every cell written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rich.segment import Segment

from tui.screen.grid.pens import Pen, Pens
from tui.screen.grid.writer import Abilities, Writer, cells_of

T = TypeVar("T")

_NEAR = 4
"""Up to this many cells between two changes are written again: going there would take as many bytes."""


def _moved(rows: list[T], by: int, fresh: list[T]) -> list[T]:
    """``rows`` moved up, or down where ``by`` is negative, with ``fresh`` ones where others left."""
    return [*rows[by:], *fresh] if by > 0 else [*fresh, *rows[:by]]


class Grid:
    """What is on a terminal of ``width`` × ``height`` cells."""

    def __init__(self, width: int, height: int, pens: Pens, abilities: Abilities) -> None:
        self.width, self.height = width, height
        self.pens = pens
        self._writer = Writer(width, height, abilities)
        self._texts: list[list[str | None]] = []
        self._pens: list[list[Pen | None]] = []
        self._painted: list[dict[int, tuple[int, Sequence[Segment]]]] = []
        """By row and first cell: one past the last cell, and what was painted there."""
        self._doubtful: dict[int, int] = {}
        """By row: from which cell on it is to be written again, because a character before may have moved it.
        """
        self.known = False
        """Whether it is known what the terminal shows."""
        self.forget()

    def forget(self) -> None:
        """Nothing is known of what the terminal shows."""
        self._texts = [[None] * self.width for _ in range(self.height)]
        self._pens = [[None] * self.width for _ in range(self.height)]
        self._painted = [{} for _ in range(self.height)]
        self._doubtful.clear()
        self._writer.forget()
        self.known = False

    def paint(self, x: int, y: int, segments: Sequence[Segment]) -> int:
        """Show ``segments`` from cell ``x`` of row ``y`` on. Returns the cell behind them."""
        painted = self._painted[y]
        before = painted.get(x)
        if before is not None and (before[1] is segments or before[1] == segments):
            return before[0]
        cells = cells_of(segments, self.pens)
        texts, pens = cells.texts, cells.pens
        if x + len(texts) > self.width:
            del texts[self.width - x :], pens[self.width - x :]
        end = x + len(texts)
        for start in [start for start, (stop, _) in painted.items() if start < end and stop > x]:
            del painted[start]
        painted[x] = (end, segments)
        shown, inked = self._texts[y], self._pens[y]
        if shown[x:end] != texts or inked[x:end] != pens:
            self._replace(y, x, texts, pens, uncertain=cells.uncertain)
        return end

    def scroll(self, top: int, bottom: int, by: int) -> None:
        """Move the rows from ``top`` to before ``bottom`` up, or down where ``by`` is negative. All of them
        are to be painted for the next frame: those that come in are blank, or not known."""
        self._write_doubtful()
        if not self._writer.scroll(top, bottom, by):
            return
        rows, fresh = slice(top, bottom), range(bottom - by, bottom) if by > 0 else range(top, top - by)
        pen = self._writer.erase_rows(fresh, self._pens[bottom - 1][-1])
        # Blanks, of which no half belongs to a wide character.
        texts: list[list[str | None]] = [[" "] * self.width for _ in fresh]
        pens: list[list[Pen | None]] = [[pen] * self.width for _ in fresh]
        painted: list[dict[int, tuple[int, Sequence[Segment]]]] = [{} for _ in fresh]
        self._texts[rows] = _moved(self._texts[rows], by, texts)
        self._pens[rows] = _moved(self._pens[rows], by, pens)
        self._painted[rows] = _moved(self._painted[rows], by, painted)

    def frame(self, cursor: tuple[int, int]) -> str:
        """What shows all that was painted since the last frame, with the cursor at a cell in the end."""
        self.known = True
        self._write_doubtful()
        return self._writer.take(cursor)

    def _write_doubtful(self) -> None:
        for y, x in self._doubtful.items():
            self._run(y, x, self.width, erase=False, in_order=True)
        self._doubtful.clear()

    def _replace(self, y: int, x: int, texts: list[str], pens: list[Pen], *, uncertain: bool) -> None:
        shown, inked = self._texts[y], self._pens[y]
        end = x + len(texts)
        changed = [
            at
            for at, (text, pen, old, was) in enumerate(
                zip(texts, pens, shown[x:end], inked[x:end], strict=True), x
            )
            if pen is not was or text != old
        ]
        # tmux keeps the second half of a wide character whose first half is erased, and trips over it later.
        erase = all(shown[x:end])
        self._cut_wide(shown, x, end)
        shown[x:end] = texts
        inked[x:end] = pens
        if uncertain:
            self._doubtful[y] = min(changed[0], self._doubtful.get(y, self.width))
            return
        start = stop = changed[0]
        for at in changed:
            if at > stop and not self._near(shown, inked, stop, at):
                self._run(y, start, stop, erase=erase)
                start = at
            stop = at + 1
        self._run(y, start, stop, erase=erase)

    def _near(self, shown: list[str | None], inked: list[Pen | None], stop: int, at: int) -> bool:
        """Whether writing the cells from ``stop`` to ``at`` again takes no more than passing over them. A
        blank is written in any pen that draws it alike."""
        if at - stop > _NEAR:
            return False
        before, behind = inked[stop - 1], inked[at]
        blank = before.blank if before is not None else None
        return all(
            pen is before or pen is behind or (pen is blank and text == " ")
            for text, pen in zip(shown[stop:at], inked[stop:at], strict=True)
        )

    def _run(self, y: int, start: int, stop: int, *, erase: bool, in_order: bool = False) -> None:
        """Write cells, and the other half of wide characters at both ends."""
        shown = self._texts[y]
        if start and shown[start] == "":
            start -= 1
        if stop < self.width and shown[stop] == "":
            stop += 1
        self._writer.run(y, start, stop, shown, self._pens[y], erase=erase, in_order=in_order)

    def _cut_wide(self, shown: list[str | None], x: int, end: int) -> None:
        """A wide character that is only half replaced is gone: nobody knows what its other half shows."""
        if x and shown[x] == "":
            shown[x - 1] = None
        if end < self.width and shown[end] == "":
            shown[end] = None
