"""A Markdown table as rows: columns are aligned by the lines received so far, cells wrap where the pane is
narrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tui.screen.drawing.plain import cell_len
from tui.screen.drawing.rows import Row, Span, wrap

MOST = 60
"""The number of lines that are aligned together. Earlier lines stay as they are, so that a long table costs
no more per line than a short one."""
NARROWEST = 6
"""The least width of a column; where there is no room for it the lines are not aligned."""
_LINE = re.compile(r" {0,3}\|(?P<cells>.*)\Z")
_RULE = re.compile(r"[\s|:-]*\Z")
_BETWEEN = " │ "

Cell = list[Span]
Inline = Callable[[str, str], Cell]
"""The spans of a cell's text in a role."""


def is_line(line: str) -> bool:
    """Whether ``line`` belongs to a table."""
    return _LINE.match(line) is not None


class Table:
    """A table that grows line by line."""

    def __init__(self, inline: Inline) -> None:
        self._inline = inline
        self._lines: list[list[Cell]] = []
        """The cells of each line; none for the line of dashes."""
        self._written: list[str] = []
        """The lines as they were written, which is how they are copied."""

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: str) -> None:
        """Add the next line, for which ``is_line`` is true."""
        self._written.append(line.strip())
        found = _LINE.match(line)
        text = found["cells"].rstrip().removesuffix("|") if found else line
        if "-" in text and _RULE.match(text):
            self._lines.append([])
            return
        role = "text" if self._lines else "strong"
        cells = re.split(r"(?<!\\)\|", text)
        self._lines.append([self._inline(cell.strip().replace("\\|", "|"), role) for cell in cells])

    def rows(self, width: int, margin: Span) -> list[Row]:
        """The table in ``width`` cells, with ``margin`` before each row."""
        room = max(1, width - cell_len(margin[0]))
        widths = self._widths(room)
        rows: list[Row] = []
        for cells, written in zip(self._lines, self._written, strict=True):
            if not cells:
                rule = sum(widths) + len(_BETWEEN) * (len(widths) - 1) if widths else room
                drawn = [Row([margin, ("─" * max(1, rule), "border")], skip=len(margin[0]))]
            elif widths:
                drawn = _aligned(cells, widths, margin)
            else:
                drawn = wrap(_joined(cells), width, first=[margin], rest=[(margin[0] + "  ", "text")])
            drawn[0].raw = written
            rows += drawn
        return rows

    def _widths(self, room: int) -> list[int]:
        """The width of each column; empty where there is no room for columns."""
        count = max((len(cells) for cells in self._lines), default=0)
        widths = [
            max((cell_len(_text(cells[column])) for cells in self._lines if column < len(cells)), default=0)
            for column in range(count)
        ]
        room -= len(_BETWEEN) * (count - 1)
        if room < NARROWEST * count:
            return []
        while sum(widths) > room:
            # Shrink the widest column to the width of the next one, again and again.
            ranked = sorted(set(widths), reverse=True)
            widest = ranked[0]
            many = widths.count(widest)
            down = max(ranked[1] if len(ranked) > 1 else 0, widest - -(-(sum(widths) - room) // many))
            widths = [min(each, down) for each in widths]
        return widths


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def _joined(cells: Sequence[Cell]) -> list[Span]:
    spans: list[Span] = []
    for index, cell in enumerate(cells):
        spans += [(_BETWEEN, "border"), *cell] if index else cell
    return spans


def _aligned(cells: Sequence[Cell], widths: Sequence[int], margin: Span) -> list[Row]:
    """One line of the table, as high as its highest cell."""
    columns = [wrap(cells[at] if at < len(cells) else [], max(1, widths[at])) for at in range(len(widths))]
    rows: list[Row] = []
    for line in range(max(len(column) for column in columns)):
        spans: list[Span] = [margin]
        for at, column in enumerate(columns):
            piece = column[line].spans if line < len(column) else []
            pad = widths[at] - cell_len(_text(piece))
            if at:
                spans.append((_BETWEEN, "border"))
            spans += piece
            if pad > 0 and at < len(columns) - 1:
                spans.append((" " * pad, "text"))
        rows.append(Row(spans, skip=len(margin[0]), joint="\n" if line else None))
    return rows
