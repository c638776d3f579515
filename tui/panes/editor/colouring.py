"""Syntax colours of the file in the editor: of the visible rows at once, of the whole file when there is
time.

Lexing the visible rows starts at the nearest restart point above them (see :mod:`tui.drawing.code`), which is
almost always right. :func:`whole`, run in a thread after the last edit, makes it exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tui.drawing.code import is_rest, lex, lexer_for, new_lexer
from tui.drawing.rows import Span

LOOK_BACK = 60
"""The rows above the visible ones that are searched for a restart point."""
WHOLE_FILE_BYTES = 300_000
"""In larger files only the visible rows are coloured."""

Lines = Callable[[int], str]


class Colouring:
    """The token spans of each row, made on demand."""

    def __init__(self) -> None:
        self._path = ""
        self._rows: list[list[Span] | None] = []

    def reset(self, path: str, line_count: int) -> None:
        """Start with another document."""
        self._path = path
        self._rows = [None] * line_count

    def edited(self, row: int, gone: int, come: int) -> None:
        """Follow an edit: ``gone`` rows from ``row`` on became ``come`` rows."""
        self._rows[row : row + gone] = [None] * come

    def settle(self, rows: Sequence[Sequence[Span]]) -> None:
        """Use the colours of the whole file."""
        self._rows = [list(row) for row in rows]

    def prepare(self, line: Lines, first: int, last: int) -> None:
        """Colour rows ``first`` to ``last`` (exclusive) where they have no colours yet."""
        last = min(last, len(self._rows))
        missing = next((row for row in range(first, last) if self._rows[row] is None), None)
        if missing is None:
            return
        start = self._rest_before(line, missing)
        texts = [line(row) for row in range(start, last)]
        for row, spans in enumerate(lex(lexer_for(path=self._path), texts), start):
            if row >= missing or self._rows[row] is None:
                self._rows[row] = spans

    def _rest_before(self, line: Lines, row: int) -> int:
        lowest = max(0, row - LOOK_BACK)
        for start in range(row, lowest, -1):
            known = [self._rows[start - 1], self._rows[start]]
            text = line(start)
            spans = [known[0] or [], known[1] or [(text, ".text")]]
            if known[0] is not None and text and is_rest([line(start - 1), text], spans, 1):
                return start
        return lowest

    def of(self, row: int) -> list[Span] | None:
        """The spans of ``row``, or None if it has none yet."""
        return self._rows[row] if row < len(self._rows) else None


def whole(path: str, text: str) -> list[list[Span]]:
    """The spans of every line of a file, made with a lexer of its own: safe to call in another thread."""
    return lex(new_lexer(path=path), text.split("\n"))
