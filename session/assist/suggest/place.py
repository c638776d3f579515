"""Where the cursor is, and the text around it: what a suggestion is made for, and held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

BEFORE = 60
"""Lines before the cursor's that a place holds."""
AFTER = 30
_KEY, _KEY_ENDS = "PRIVATE KEY-----", "-----END"
_LONGEST_KEY = 400
"""Lines of a private key."""


@dataclass(frozen=True)
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

    @cached_property
    def masked(self) -> tuple[str, ...] | None:
        """The lines that are held, with their secrets masked; None where the cursor's line holds one, or may
        hold one once its quotes are closed: a half of a secret is not known as one."""
        from context.text.secrets import masked_lines

        here = self.left + self.right
        lines = masked_lines([*self.before, here, *self.after])
        open_ended = [self.left + quote for quote in "\"'`"]
        if lines[len(self.before)] != here or masked_lines(open_ended) != open_ended:
            return None
        return tuple(lines)

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
    line, first = lines[row], max(0, row - BEFORE)
    before = lines[first:row]
    # A private key that begins above is known as one by its first line alone.
    above = (each for each in reversed(lines[max(0, first - _LONGEST_KEY) : first]) if _KEY in each)
    begins = next(above, _KEY_ENDS)
    if before and _KEY_ENDS not in begins and " " not in before[0].strip():
        before = [begins, *before[1:]]
    return Place(
        path,
        row,
        len(lines) - row - 1,
        tuple(before),
        line[:column],
        line[column:],
        tuple(lines[row + 1 : row + 1 + AFTER]),
    )
