"""Syntax colours of the file in the editor: of the visible rows at once, of the whole file when there is
time.

Lexing starts at the nearest restart point above the rows without colours (see :mod:`tui.screen.drawing.code`)
and ends behind the last of them, which is almost always right. :func:`whole`, run in a thread after the last
edit, makes it exact; in a large file the visible rows are lexed together then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tui.editor.buffers.buffer import Buffer
from tui.screen.drawing.code import MOST_LEXED, is_rest, lex, lexer_for, new_lexer
from tui.screen.drawing.rows import Span

LOOK_BACK = 60
"""The rows above the visible ones that are searched for a restart point."""
SETTLING = 0.3
"""After this many seconds without an edit the whole file is coloured again."""
WHOLE_FILE_BYTES = 300_000
"""In larger files only the visible rows are coloured."""

Lines = Callable[[int], str]


class Colouring:
    """The token spans of each row, made on demand."""

    def __init__(self) -> None:
        self._path = ""
        self._rows: list[list[Span] | None] = []
        self._doubtful = False
        """Whether the colours of the visible rows may be those of another text around them."""

    def reset(self, path: str, line_count: int) -> None:
        """Start with another document."""
        self._path = path
        self._rows = [None] * line_count

    def edited(self, row: int, gone: int, come: int) -> None:
        """Follow an edit: ``gone`` rows from ``row`` on became ``come`` rows."""
        self._rows[row : row + gone] = [None] * come

    def doubt(self) -> None:
        """Colour the visible rows anew: edits may have changed what rows around them mean."""
        self._doubtful = True

    def settle(self, rows: Sequence[Sequence[Span]]) -> None:
        """Use the colours of the whole file."""
        self._rows = [list(row) for row in rows]

    def prepare(self, line: Lines, first: int, last: int) -> None:
        """Colour rows ``first`` to ``last`` (exclusive) where they have no colours yet."""
        last = min(last, len(self._rows))
        doubtful, self._doubtful = self._doubtful, False
        missing = [row for row in range(first, last) if doubtful or self._rows[row] is None]
        if not missing:
            return
        start = self._rest_before(line, missing[0])
        texts = [line(row) for row in range(start, missing[-1] + 1)]
        for row, spans in enumerate(lex(lexer_for(path=self._path), texts, most=MOST_LEXED), start):
            if row >= missing[0] or self._rows[row] is None:
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

    async def recolour(self, buffer: Buffer) -> bool:
        """Once the text of ``buffer`` has not changed for a moment, colour all of it; of a large one, the
        visible rows. False where it changed, or where another file came up. Cancelled by the next edit."""
        await asyncio.sleep(SETTLING)
        version, text = buffer.version, buffer.text
        if len(text) > WHOLE_FILE_BYTES:
            self.doubt()
            return True
        rows = await asyncio.to_thread(whole, buffer.path, text)
        if (buffer.path, buffer.version) != (self._path, version):
            return False
        self.settle(rows)
        return True

    def of(self, row: int) -> list[Span] | None:
        """The spans of ``row``, or None if it has none yet."""
        return self._rows[row] if row < len(self._rows) else None


def whole(path: str, text: str) -> list[list[Span]]:
    """The spans of every line of a file, made with a lexer of its own: safe to call in another thread."""
    return lex(new_lexer(path=path), text.split("\n"))
