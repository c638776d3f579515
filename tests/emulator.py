"""What a terminal shows of the bytes that a program writes, by pyte."""

from __future__ import annotations

import re

import pyte

# Queries and modes that pyte would show as text, links and titles.
_UNKNOWN = re.compile(
    r"\x1b\[[<=>?][0-9;]*[^hl0-9;]|\x1b\[[0-9;?]*\$[a-z]|\x1b[P_].*?\x1b\\|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)",
    re.DOTALL,
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-9;:?<>=$ ]*|[P_\]][^\x07\x1b]*\x1b?|)\Z")
"""A sequence whose end is still to come."""


class Emulator:
    """A terminal of ``columns`` × ``rows``; it takes its input in any pieces."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        self._rest = ""

    def feed(self, data: str) -> None:
        """Write to it."""
        data = self._rest + data
        unfinished = _UNFINISHED.search(data)
        self._rest = data[unfinished.start() :] if unfinished else ""
        self._stream.feed(_UNKNOWN.sub("", data[: unfinished.start()] if unfinished else data))

    @property
    def rows(self) -> list[str]:
        """The text of each row."""
        return list(self.screen.display)

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join(self.rows)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size."""
        self.screen.resize(rows, columns)
