"""Where the cursor is, and the text around it: what a suggestion is made for, and held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BEFORE = 60
"""Lines before the cursor's that a place holds."""
AFTER = 30


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor at ``row`` (from 0), with ``left`` and ``right`` of it on its line, and the lines around that
    line. ``below`` counts all lines under it."""

    path: str
    row: int
    below: int
    before: tuple[str, ...]
    left: str
    right: str
    after: tuple[str, ...]

    @property
    def first(self) -> int:
        """The row of the first line that is held."""
        return self.row - len(self.before)

    def line(self, row: int) -> str | None:
        """The line at ``row``; None where it is not held."""
        if row == self.row:
            return self.left + self.right
        at = row - self.first
        if 0 <= at < len(self.before):
            return self.before[at]
        at = row - self.row - 1
        return self.after[at] if 0 <= at < len(self.after) else None


def place_at(path: str, lines: Sequence[str], row: int, column: int) -> Place:
    """The place of a cursor in ``lines``."""
    line = lines[row]
    return Place(
        path,
        row,
        len(lines) - row - 1,
        tuple(lines[max(0, row - BEFORE) : row]),
        line[:column],
        line[column:],
        tuple(lines[row + 1 : row + 1 + AFTER]),
    )
