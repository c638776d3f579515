"""The text of rows as it is copied: whole lines as they were written, not as they are wrapped and drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tui.screen.drawing.rows import DRAWN_ONLY, Row

Part = tuple[Row | None, int, int | None]
"""A row (None for a blank one between entries), and the characters of it that are copied: the first, and one
past the last, or None up to its end."""


@dataclass(slots=True)
class _Line:
    text: str
    raw: str | None
    whole: bool


def copied(parts: Iterable[Part], *, continued: bool = False) -> str:
    """The text of ``parts``. ``continued`` says that the last line goes on behind them."""
    lines: list[_Line] = []
    open_line: _Line | None = None
    for row, start, end in parts:
        if row is None:
            lines.append(_Line("", None, True))
            open_line = None
            continue
        if row.skip == DRAWN_ONLY:
            continue
        text = row.text
        piece = text[max(start, row.skip) : end]
        whole = start <= row.skip and (end is None or end >= len(text))
        if row.joint is not None and open_line is not None:
            open_line.text += row.joint + piece
            open_line.whole &= whole
        else:
            open_line = _Line(piece, row.raw, whole and (row.joint is None or row.raw is not None))
            lines.append(open_line)
    if continued and lines:
        lines[-1].whole = False
    return "\n".join(line.raw if line.raw is not None and line.whole else line.text for line in lines)
