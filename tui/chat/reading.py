"""What the user does in the conversation while reading it: a cursor, a selection, a search.

Places are kept by entry and row, so they stay where they are while entries above grow. Nothing here knows
Textual: :mod:`tui.chat.reading_keys` turns keys into calls, and the pane draws.

Finds a text in the conversation. A line that is wrapped is searched as one.

Where a character of an entry is once its rows are others: the same line, and the same character of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType

from tui.chat.transcript.answer import Part, copied
from tui.chat.transcript.entries import Entry
from tui.chat.transcript.transcript import Transcript
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


@dataclass(frozen=True, slots=True)
class Spot:
    """A character of the conversation: of a row of an entry, from 0."""

    entry: Entry
    row: int
    column: int


Point = tuple[int, int]
"""A row, counted from the top of the conversation, and a character of it."""


class Reading:
    """The cursor is None while the user only scrolls; ``anchor`` is where a selection began."""

    def __init__(self, transcript: Transcript) -> None:
        self._rows = transcript
        self.cursor: Spot | None = None
        self.anchor: Spot | None = None
        self.by_lines = False
        """Whether whole rows' lines are selected."""
        self.query = ""
        self._pattern: re.Pattern[str] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is drawn over the rows: no cursor, no selection and no match."""
        return self.cursor is None and self._pattern is None

    # Places.

    def point(self, spot: Spot | None) -> Point | None:
        """Where a place is now; None where it is gone."""
        start = self._rows.start_of(spot.entry) if spot is not None else None
        if spot is None or start is None or not spot.entry.rows:
            return None
        row = min(spot.row, len(spot.entry.rows) - 1)
        return start + row, min(spot.column, len(spot.entry.rows[row].text))

    def spot(self, number: int, column: int = 0) -> Spot | None:
        """The place at a row, or at the nearest row of an entry."""
        total = self._rows.total
        number = max(0, min(number, total - 1))
        for away in range(4):  # at most a row or two between entries are blank
            for near in (number + away, number - away):
                found = self._rows.at(near) if 0 <= near < total else None
                if found is not None:
                    entry, row = found
                    own = entry.rows[row]
                    low = 0 if own.skip == DRAWN_ONLY else own.skip
                    return Spot(entry, row, max(low, min(column, len(own.text))))
        return None

    def let_go(self) -> bool:
        """End the selection, else the search, else drop the cursor; false where there is nothing."""
        if self.anchor is not None:
            self.anchor = None
        elif self.query:
            self.search("")
        elif self.cursor is not None:
            self.cursor = None
        else:
            return False
        return True

    def moved(self, spot: Spot | None, moves: Mapping[Entry, Move]) -> Spot | None:
        """The same place once the rows of some entries are others."""
        if spot is None or spot.entry not in moves:
            return spot
        return Spot(spot.entry, *moves[spot.entry].of(spot.row, spot.column))

    def move_places(self, moves: Mapping[Entry, Move]) -> None:
        """Keep the cursor and the selection at what they are at."""
        self.cursor, self.anchor = self.moved(self.cursor, moves), self.moved(self.anchor, moves)

    # Moving.

    def move(self, rows: int, columns: int = 0) -> None:
        """Move the cursor by rows, over blank ones between entries, or by characters."""
        point = self.point(self.cursor)
        if point is None or self.cursor is None:
            return
        row, column = point
        if columns:
            text = self._row(row)
            low = max(0, text.skip) if text is not None else 0
            length = len(text.text) if text is not None else 0
            self.cursor = self.spot(row, max(low, min(length, column + columns)))
            return
        step = 1 if rows > 0 else -1
        target = max(0, min(self._rows.total - 1, row + rows))
        while 0 <= target + step < self._rows.total and self._rows.at(target) is None:
            target += step
        self.cursor = self.spot(target, column)

    def neighbour(self, kind: type | UnionType, step: int, top: int) -> Spot | None:
        """The next (1) or previous (-1) entry of a kind, from the cursor or else from row ``top``."""
        point = self.point(self.cursor)
        row = point[0] if point is not None else top - (step > 0)
        own = self.cursor.entry if self.cursor is not None and point is not None else None
        entries = [each for each in self._rows.entries if isinstance(each, kind) and each.rows]
        starts = [(self._rows.start_of(each), each) for each in entries if each is not own]
        known = [(start, each) for start, each in starts if start is not None]
        after = [each for start, each in known if (start > row if step > 0 else start < row)]
        if not after:
            return None
        return Spot(after[0] if step > 0 else after[-1], 0, 0)

    # The selection.

    @property
    def selected(self) -> tuple[Point, Point] | None:
        """The first character that is selected, and one past the last; None without a selection."""
        if self.anchor is None:
            return None
        start, end = self.point(self.anchor), self.point(self.cursor)
        if start is None or end is None:
            return None
        start, end = min(start, end), max(start, end)
        if not self.by_lines:
            return (start, end) if start != end else None
        first, last = start[0], end[0]
        while first > 0 and (row := self._row(first)) is not None and row.joint is not None:
            first -= 1
        while (row := self._row(last + 1)) is not None and row.joint is not None:
            last += 1
        row = self._row(last)
        return (first, 0), (last, len(row.text) if row is not None else 0)

    def selected_in(self, number: int) -> tuple[int, int] | None:
        """The selected characters of a row."""
        selected = self.selected
        if selected is None or not selected[0][0] <= number <= selected[1][0]:
            return None
        (first, start), (last, end) = selected
        row = self._row(number)
        if row is None or row.skip == DRAWN_ONLY:
            return None
        low = max(row.skip, start if number == first else 0)
        high = end if number == last else max(len(row.text), row.skip + 1)
        return (low, high) if low < high else None

    def select_word(self, spot: Spot) -> None:
        """Select the word at a place."""
        text = spot.entry.rows[spot.row].text
        for found in re.finditer(r"\w+|[^\w\s]+", text):
            if found.start() <= spot.column < found.end():
                self.by_lines = False
                self.anchor = Spot(spot.entry, spot.row, found.start())
                self.cursor = Spot(spot.entry, spot.row, found.end())
                return

    def select_line(self, spot: Spot) -> None:
        """Select the line at a place, all rows of it."""
        self.by_lines = True
        self.anchor = self.cursor = spot

    def text(self) -> str:
        """The selected text, or without a selection the line at the cursor."""
        selected = self.selected
        if selected is None and self.cursor is not None:
            by_lines, self.by_lines, self.anchor = self.by_lines, True, self.cursor
            selected = self.selected
            self.by_lines, self.anchor = by_lines, None
        if selected is None:
            return ""
        (first, start), (last, end) = selected
        parts: list[Part] = []
        for number in range(first, last + 1):
            row = self._row(number)
            parts.append((row, start if number == first else 0, end if number == last else None))
        behind = self._row(last + 1)
        return copied(parts, continued=behind is not None and behind.joint is not None)

    # The search.

    def search(self, query: str) -> None:
        """Search for ``query`` from now on; an empty one ends the search."""
        self.query = query
        self._pattern = pattern_of(query) if query else None

    def matches_in(self, number: int) -> list[tuple[int, int]]:
        """The characters of a row that match."""
        found = self._rows.at(number) if self._pattern is not None else None
        return (
            [] if found is None or self._pattern is None else in_row(found[0].rows, found[1], self._pattern)
        )

    def find(self, step: int, top: int, *, here: bool = False) -> bool | None:
        """Go to the next (1) or previous (-1) match, from the cursor or else from row ``top``; with ``here``
        a match at the cursor counts. True where the search went round the end, None where nothing matches."""
        pattern = self._pattern
        if pattern is None:
            return None
        point = self.point(self.cursor) or (top, -1)
        entries = list(self._rows.entries)
        if not entries:
            return None
        at = self._rows.at(point[0])
        own = next((i for i, each in enumerate(entries) if at is not None and each is at[0]), None)
        if own is None:  # between two entries
            starts = ((i, self._rows.start_of(each)) for i, each in enumerate(entries))
            own = next((i for i, start in starts if start is not None and start >= point[0]), 0)
            inside = (-1, -1)
        else:
            inside = (at[1] if at is not None else 0, point[1] - (1 if here else 0))
        count = len(entries)
        for turn in range(count + 1):
            index = (own + step * turn) % count
            rows = entries[index].rows
            places = [found[0][:2] for found in matches(rows, pattern)] if rows else []
            if turn == 0:
                places = [each for each in places if (each > inside if step > 0 else each < inside)]
            elif turn == count:
                places = [each for each in places if (each <= inside if step > 0 else each >= inside)]
            if places:
                row, column = places[0] if step > 0 else places[-1]
                self.cursor = Spot(entries[index], row, column)
                return turn == count or (index < own if step > 0 else index > own)
        return None

    def _row(self, number: int) -> Row | None:
        found = self._rows.at(number)
        return None if found is None else found[0].rows[found[1]]
