"""Splitting text into lines as git and compilers count them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import overload


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
        lengths = map(len, split_lines(text))
        self.starts: array[int] = array("L", accumulate(map((1).__add__, lengths), initial=0))
        """The index at which each line begins, and where one after the last would."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        numbers = range(len(self))
        if isinstance(at, slice):
            return [self[number] for number in numbers[at]]
        number = numbers[at]
        return self._text[self.starts[number] : self.starts[number + 1] - 1]
