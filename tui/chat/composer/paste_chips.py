"""Shows a large paste as a short label (a chip), and sends it whole."""

from __future__ import annotations

import re

BIG_CHARS = 2000
BIG_LINES = 12
_CHIP = re.compile(r"⟦paste (\d+) · [^⟧\n]*⟧")

Location = tuple[int, int]
"""A row and a column, from 0."""


def is_big(text: str) -> bool:
    """Whether a paste is large enough for a chip."""
    return len(text) > BIG_CHARS or text.count("\n") >= BIG_LINES


class Chips:
    """The pastes of a composer, by their labels. A label stands for its paste wherever it is put."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def chip(self, text: str) -> str:
        """The label for ``text``."""
        if text in self._labels:
            return self._labels[text]
        lines = text.count("\n") + 1
        size = len(text.encode("utf-8", "replace"))
        shown = f"{size} bytes" if size < 1000 else f"{size / 1000:.1f} KB"
        label = f"⟦paste {len(self._texts) + 1} · {lines} line{'s' if lines > 1 else ''} · {shown}⟧"
        self._texts[label] = text
        self._labels[text] = label
        return label

    def whole(self, text: str) -> str:
        """``text`` with every chip replaced by its paste."""
        return _CHIP.sub(lambda chip: self._texts.get(chip[0], chip[0]), text)

    def short(self, text: str) -> str:
        """``text`` with every paste in it as its chip again: a prompt from the history, a text cut before."""
        for paste in sorted(self._labels, key=len, reverse=True):
            text = text.replace(paste, self._labels[paste])
        return text

    def around(self, line: str, column: int) -> tuple[int, int] | None:
        """The columns of the chip that ``column`` is inside of, or None."""
        for chip in _CHIP.finditer(line):
            if chip.start() < column < chip.end() and chip[0] in self._texts:
                return chip.span()
        return None

    def beside(self, line: str, column: int, before: int) -> int:
        """``column``, or the end of the chip around it: the far one for a cursor that comes from an end of
        the chip, the near one for others. ``before`` is the column that the cursor comes from."""
        found = self.around(line, column)
        if found is None:
            return column
        start, end = found
        if before <= start:
            return end
        if before >= end:
            return start
        return start if column - start < end - column else end
