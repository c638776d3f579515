"""Notices a model that says the same again and again: small ones do, until their output is full.

A piece of text counts as a loop where the end of the answer is one block of lines, or of characters in a
line, many times over.
"""

from __future__ import annotations

from collections import deque

_MOST_LINES = 40
"""Lines of the longest block that is looked for."""
_LEAST_ROUNDS = 6
"""How often a block of lines must stand there one after the other, if it says something."""
_LONG, _LONG_ROUNDS = 8, 3
"""A block of so many lines counts after fewer rounds: a small model writes the same files over and over."""
_LEAST_LINES = 24
"""How many lines these must be together: a table may well hold the same line a few times."""
_LONGEST_PERIOD, _LEAST_CHARACTERS, _STEP = 80, 800, 200
"""The same for characters in one line, which is looked at every so many of them."""


class Loop:
    """Reads one answer. ``what`` is the beginning of the text that is repeated; empty as long as none is."""

    def __init__(self) -> None:
        self.what = ""
        self._lines: deque[str] = deque(maxlen=_MOST_LINES * _LEAST_ROUNDS)
        self._rest = ""

    def take(self, text: str) -> bool:
        """Take the next piece; whether the answer goes in a loop now."""
        *whole, rest = (self._rest + text).split("\n")
        for line in whole:
            self._lines.append(line)
            if self._repeats_lines():
                return True
        grown = len(rest) >= _LEAST_CHARACTERS and len(rest) // _STEP > len(self._rest) // _STEP
        self._rest = rest
        return grown and self._repeats_characters()

    def _repeats_lines(self) -> bool:
        lines = list(self._lines)
        last = lines[-1]
        for size in range(1, _MOST_LINES + 1):
            rounds = max(_LEAST_ROUNDS if size < _LONG else _LONG_ROUNDS, -(-_LEAST_LINES // size))
            if len(lines) < size * rounds:
                break
            if lines[-1 - size] != last:
                continue
            block = lines[-size:]
            if (
                any(any(map(str.isalnum, line)) for line in block)
                and block * rounds == lines[-size * rounds :]
            ):
                self.what = next(line for line in block if any(map(str.isalnum, line))).strip()
                return True
        return False

    def _repeats_characters(self) -> bool:
        end = self._rest[-_LEAST_CHARACTERS:]
        for period in range(1, _LONGEST_PERIOD + 1):
            if end[period:] == end[:-period] and any(map(str.isalnum, end[:period])):
                self.what = end[:period].strip()
                return True
        return False
