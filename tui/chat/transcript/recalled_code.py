"""Code that was drawn before, as lines with their colours: wrapping it for another width needs no lexer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tui.screen.drawing.code import CodeStream, drawable
from tui.screen.drawing.rows import DRAWN_ONLY, Row, Span, cut

CodeLine = tuple[list[Span], str | None]
"""A line of code as it is drawn, and as it was written where that is different."""


@dataclass(frozen=True, slots=True)
class DrawnBlocks:
    """The rows of an answer, and the first row and the end of each of its code blocks."""

    rows: Sequence[Row]
    places: Sequence[tuple[int, int]]

    def code(self, block: int) -> RecalledCode | None:
        """A block; None where it was not drawn to its end."""
        return RecalledCode(self._lines(*self.places[block])) if block < len(self.places) else None

    def _lines(self, start: int, end: int) -> Iterator[CodeLine]:
        line: CodeLine | None = None
        for number in range(start, end):
            row = self.rows[number]
            if row.skip == DRAWN_ONLY:
                continue
            spans = cut(row.spans, row.skip, len(row.text))
            if row.joint is None or line is None:
                if line is not None:
                    yield line
                line = (spans, row.raw)
            else:
                role = line[0][-1][1] if line[0] else ".text"
                line[0].extend([(row.joint, role), *spans] if row.joint else spans)
        if line is not None:
            yield line


class RecalledCode:
    """A code block that is drawn again, line by line. See :class:`NewCode`."""

    def __init__(self, lines: Iterator[CodeLine]) -> None:
        self._lines = lines
        self._count = 0

    def append(self, lines: Sequence[str]) -> None:
        """Have so many more lines drawn."""
        self._count += len(lines)

    def settle(self, tail: str | None) -> tuple[list[CodeLine], int]:
        """The lines since the last call, all of which are final."""
        lines = list(islice(self._lines, self._count))
        self._count = 0
        return lines, len(lines)


class NewCode:
    """A code block that is drawn as it arrives."""

    def __init__(self, code: CodeStream) -> None:
        self._code = code

    def append(self, lines: Sequence[str]) -> None:
        """Add complete lines."""
        self._code.append(lines)

    def settle(self, tail: str | None) -> tuple[list[CodeLine], int]:
        """The lines from the first one on that was not final in the last call, then the unfinished ``tail``
        if given; and the number of those that are final now."""
        before = self._code.rest
        drawn: list[CodeLine] = []
        for line in self._code.settle(tail):
            raw = "".join(text for text, _ in line)
            drawn.append((drawable(line), raw if "\t" in raw else None))
        return drawn, self._code.rest - before
