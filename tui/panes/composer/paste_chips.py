"""Shows a large paste as a short label (a chip), and sends it whole."""

from __future__ import annotations

import re

BIG_CHARS = 2000
BIG_LINES = 12
_CHIP = re.compile(r"⟦paste (\d+) · [^⟧\n]*⟧")


def is_big(text: str) -> bool:
    """Whether a paste is large enough for a chip."""
    return len(text) > BIG_CHARS or text.count("\n") >= BIG_LINES


class Chips:
    """The pastes of a draft, by number."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def chip(self, text: str) -> str:
        """A new chip for ``text``."""
        number = len(self._texts) + 1
        self._texts[number] = text
        lines = text.count("\n") + 1
        size = len(text.encode("utf-8", "replace"))
        shown = f"{size} bytes" if size < 1000 else f"{size / 1000:.1f} KB"
        return f"⟦paste {number} · {lines} line{'s' if lines > 1 else ''} · {shown}⟧"

    def whole(self, text: str) -> str:
        """``text`` with every chip replaced by its paste."""
        return _CHIP.sub(lambda chip: self._texts.get(int(chip[1]), chip[0]), text)

    def ending_at(self, line: str, column: int) -> int | None:
        """The start of the chip that ends at ``column``, or None."""
        return next((chip.start() for chip in _CHIP.finditer(line) if chip.end() == column), None)

    def starting_at(self, line: str, column: int) -> int | None:
        """The end of the chip that begins at ``column``, or None."""
        return next((chip.end() for chip in _CHIP.finditer(line) if chip.start() == column), None)
