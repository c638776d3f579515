"""Where a character of an entry is once its rows are others: the same line, and the same character of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.screen.drawing.rows import DRAWN_ONLY, Row


@dataclass(frozen=True, slots=True)
class Move:
    """Rows of an entry, and the rows that show the same text in their place."""

    before: Sequence[Row]
    now: Sequence[Row]

    def of(self, row: int, column: int) -> tuple[int, int]:
        """The row and the column now of what was at ``row`` and ``column``; the row is 0 where none is left.
        In a table, whose cells are laid out anew, the line stays the same and not always the character."""
        if not row:
            return 0, column
        sought = _place(self.before, row, column)
        found, at = 0, 0
        for number, (line, character, shown) in enumerate(_begins(self.now)):
            if (line, character) > sought:
                break
            if shown.skip != DRAWN_ONLY:
                found = number
                inside = sought[1] - character if line == sought[0] else 0
                at = min(len(shown.text), shown.skip + inside)
        return found, at


def _place(rows: Sequence[Row], row: int, column: int) -> tuple[int, int]:
    """The line, and the character of it, at a place of ``rows``."""
    for number, (line, character, shown) in enumerate(_begins(rows)):
        if number == row:
            drawn_only = shown.skip == DRAWN_ONLY
            return line, character if drawn_only else character + max(0, column - shown.skip)
    return 0, 0


def _begins(rows: Sequence[Row]) -> Iterator[tuple[int, int, Row]]:
    """Each row with the line, and the character of it, that it begins with. What is only drawn begins with
    the line behind it."""
    line, behind = -1, 0
    for row in rows:
        if row.skip == DRAWN_ONLY:
            yield line + 1, 0, row
            continue
        if row.joint is None or line < 0:
            line, character = line + 1, 0
        else:
            character = behind + len(row.joint)
        yield line, character, row
        behind = character + len(row.text) - row.skip
        if row.raw is not None:
            line += row.raw.count("\n")  # one row stands for the lines of a block that is folded
