"""The part of a very long line that is in sight: drawing all of a line of megabytes would hold every key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tui.screen.drawing.plain import cell_len, visible
from tui.screen.drawing.rows import Span, cut

LONG = 4_000
"""Characters of a line from which on only a part of it is drawn."""
_STEP = 2_048
"""Characters that are measured together."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line: its first character and the cells before it, and its text with its roles."""

    start: int
    cells: int
    text: str
    spans: Sequence[Span]

    def column(self, column: int) -> int:
        """A column of the line as one of this part; at its nearer end where it is outside."""
        return min(max(0, column - self.start), len(self.text))


def part_in_sight(line: str, spans: Sequence[Span], first_cell: int, room: int) -> Part:
    """The part of ``line`` that the cells from ``first_cell`` on show in ``room`` cells, and some on both
    sides. A tab in it takes one cell."""
    start = cells = 0
    while start + _STEP < len(line):
        taken = _cells(line[start : start + _STEP])
        if cells + taken > first_cell:
            break
        start, cells = start + _STEP, cells + taken
    end = min(len(line), start + 2 * _STEP + room)
    untabbed = [(text.replace("\t", " "), role) for text, role in cut(spans, start, end)]
    return Part(start, cells, line[start:end].replace("\t", " "), untabbed)


@lru_cache(maxsize=8_192)
def _cells(text: str) -> int:
    return cell_len(visible(text.replace("\t", " ")))
