"""Splitting text into lines as git and compilers count them, and long texts into slices of whole lines.

One call on a long text lets no other thread run: an expression takes 20 ms for a megabyte."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import overload

_SLICE = 50_000
"""Number of characters that are looked at in one call, up to the next line end."""
_BEYOND = 4_096
"""Number of characters behind a slice, up to the next line end, that a match in it may extend to."""


def slices(text: str, size: int = _SLICE) -> Iterator[tuple[int, int]]:
    """The start and end of slices of about ``size`` characters, cut before a line end."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size)
        end = len(text) if end < 0 else end
        yield start, end
        start = end


def line_slices(text: str) -> Iterator[str]:
    """``text`` in slices of about :data:`_SLICE` characters, cut behind a line end."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _SLICE) + 1 or len(text)
        yield text[start:end]
        start = end


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of ``pattern`` as its ``finditer`` gives them, looked for slice by slice.

    It must not match the empty text nor look for the end of the text, and what it finds on one line must not
    depend on more than the :data:`_BEYOND` characters behind that line.
    """
    at = 0
    for start, end in slices(text):
        reach = text.find("\n", end + _BEYOND)
        reach = len(text) if reach < 0 else reach
        at = max(at, start)
        while at < end and (found := pattern.search(text, at, reach)) and found.start() < end:
            yield found
            at = found.end()


def replaced(pattern: re.Pattern[str], stand_in: Callable[[re.Match[str]], str], text: str) -> str:
    """``text`` with a stand-in for each of the :func:`matches` of ``pattern``."""
    parts: list[str] = []
    at = 0
    for found in matches(pattern, text):
        parts += (text[at : found.start()], stand_in(found))
        at = found.end()
    return "".join((*parts, text[at:])) if parts else text


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` without their ends; only ``\\n`` ends a line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class TextLines(Sequence[str]):
    """The lines of a text, cut out of it when they are asked for.

    A list would have the garbage collector look at each line, which holds up all threads.
    """

    __slots__ = ("_text", "starts")

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts: array[int] = array("L", (0,))
        """The index at which each line begins, and where one after the last would."""
        for part in line_slices(text):
            lengths = map(len, split_lines(part))
            self.starts.extend(accumulate(map((1).__add__, lengths), initial=self.starts.pop()))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        numbers = range(len(self))
        if isinstance(at, slice):
            wanted = numbers[at]
            if wanted and wanted.step == 1:  # in one piece, which takes a fifth of the time
                return self._text[self.starts[wanted.start] : self.starts[wanted.stop] - 1].split("\n")
            return [self[number] for number in wanted]
        number = numbers[at]
        return self._text[self.starts[number] : self.starts[number + 1] - 1]
