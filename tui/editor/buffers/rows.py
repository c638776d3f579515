"""Changes of whole rows of a text, from which everything else about an edit follows, and places in it: a row
and a column, or the number of characters before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Place = tuple[int, int]
"""A row and a column, from 0."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows ``old`` from ``row`` on became ``new``."""

    row: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing changed."""
        return self.old == self.new

    @property
    def end(self) -> int:
        """One past the last row of ``new``."""
        return self.row + len(self.new)

    @property
    def growth(self) -> int:
        """The number of rows by which the text grew."""
        return len(self.new) - len(self.old)

    def reversed(self) -> Rows:
        """The change that takes this one back."""
        return Rows(self.row, self.new, self.old)

    def trimmed(self) -> Rows:
        """The same change without the rows at its ends that stayed."""
        row, gone, come = _differing(self.old, self.new)
        return Rows(self.row + row, self.old[row : row + gone], self.new[row : row + come])

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether ``lines`` has the old rows where this change expects them."""
        return tuple(lines[self.row : self.row + len(self.old)]) == self.old

    def place(self, at: Place) -> Place:
        """Where the place ``at`` is after the change."""
        row, column = at
        if row < self.row:
            return at
        if row >= self.row + len(self.old):
            return row + self.growth, column
        if row < self.end:
            return row, min(column, len(self.new[row - self.row]))
        return (self.end - 1, len(self.new[-1])) if self.new else (max(0, self.row - 1), 0)


def rows_between(old: Sequence[str], new: Sequence[str]) -> Rows:
    """The smallest change of rows that turns ``old`` into ``new``."""
    row, gone, come = _differing(old, new)
    return Rows(row, tuple(old[row : row + gone]), tuple(new[row : row + come]))


def composed(first: Rows, second: Rows, lines: Sequence[str]) -> Rows:
    """``first`` and then ``second`` as one change; ``lines`` are the text after both."""
    start = min(first.row, second.row)
    end = max(first.end, second.row + len(second.old)) + second.growth
    after = list(lines[start:end])
    before = list(after)
    for change in (second, first):
        at = change.row - start
        before[at : at + len(change.new)] = change.old
    return Rows(start, tuple(before), tuple(after)).trimmed()


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """The first row that differs, and how many rows went and came there."""
    shorter = min(len(old), len(new))
    same = 0
    while same < shorter and old[same] == new[same]:
        same += 1
    after = 0
    while after < shorter - same and old[-1 - after] == new[-1 - after]:
        after += 1
    return same, len(old) - same - after, len(new) - same - after


def index_at(text: str, place: Place) -> int:
    """How many characters stand before ``place``."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place[0]]) + place[1]


def place_at(text: str, index: int) -> Place:
    """The place behind the first ``index`` characters."""
    before = text[:index]
    return before.count("\n"), index - (before.rfind("\n") + 1)
