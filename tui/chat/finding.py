"""Finds a text in the conversation. A line that is wrapped is searched as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.screen.drawing.rows import DRAWN_ONLY, Row

Found = tuple[int, int, int]
"""A row of an entry, and the characters of it from the first to one past the last."""


def pattern_of(query: str) -> re.Pattern[str]:
    """The pattern of a query: its own letters, in any case unless one of them is a capital."""
    return re.compile(re.escape(query), 0 if any(map(str.isupper, query)) else re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line and the rows that show it: which, the row's first character in the line, and its ``skip``."""

    text: str
    rows: tuple[tuple[int, int, int], ...]

    def places(self, start: int, end: int) -> list[Found]:
        """Where the characters ``start`` to ``end`` are shown."""
        places = []
        for at, (row, begin, skip) in enumerate(self.rows):
            stop = self.rows[at + 1][1] if at + 1 < len(self.rows) else len(self.text)
            first, last = max(start, begin), min(end, stop)
            if first < last:
                places.append((row, first - begin + skip, last - begin + skip))
        return places


def matches(
    rows: Sequence[Row], pattern: re.Pattern[str], first: int = 0, last: int | None = None
) -> Iterator[list[Found]]:
    """The matches in the rows of an entry, from the line of row ``first`` to that of row ``last``. Each may
    be on several rows."""
    while first > 0 and rows[first].joint is not None:
        first -= 1
    for line in _lines(rows, first, len(rows) if last is None else last):
        for match in pattern.finditer(line.text):
            if match.end() > match.start() and (places := line.places(match.start(), match.end())):
                yield places


def in_row(rows: Sequence[Row], row: int, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """The characters of one row that belong to a match."""
    found = []
    for places in matches(rows, pattern, row, row):
        found += [(start, end) for at, start, end in places if at == row]
    return found


def _lines(rows: Sequence[Row], first: int, last: int) -> Iterator[_Line]:
    """The lines that begin from row ``first`` to row ``last``."""
    text, places = "", list[tuple[int, int, int]]()
    for at in range(first, len(rows)):
        row = rows[at]
        if row.skip == DRAWN_ONLY:
            continue
        if row.joint is None and places:
            yield _Line(text, tuple(places))
            text, places = "", []
        if at > last and row.joint is None:
            return
        if places:
            text += row.joint or ""
        places.append((at, len(text), row.skip))
        text += row.text[row.skip :]
    if places:
        yield _Line(text, tuple(places))
