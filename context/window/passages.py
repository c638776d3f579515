"""Divides a file into passages: definitions, the code between them, and parts of long ones."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from context.code.symbols import Symbol
from context.index.file_text import FileText, kept_with_file

_LONGEST = 1_800
"""Length in characters above which a passage is divided, if it can be."""
_FUNCTION = 2_500
"""The same for a function, whose first lines say little without the others."""
_SHORTEST = 500
"""Length in characters below which a passage is joined to a neighbour; about 150 tokens."""
_PART = 1_200
"""Length in characters of the parts of a long stretch that has no definitions inside."""


class Passage(NamedTuple):
    """Consecutive lines of a file, which are shown together or not at all. ``lines`` are indices from 0."""

    lines: range
    size: int
    """Length in characters."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a file in order; together they are all of its lines.

    Kept as numbers: the garbage collector would look at each passage of a list, which holds up all threads.
    """

    lines: array[int]
    """The lines at which each passage begins, and where one after the last would."""
    starts: array[int]
    """The indices of these lines in the text."""

    def __len__(self) -> int:
        return len(self.lines) - 1

    def __getitem__(self, number: int) -> Passage:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return Passage(range(self.lines[number], self.lines[number + 1]), self.size(number))

    def __iter__(self) -> Iterator[Passage]:
        return map(self.__getitem__, range(len(self)))

    def size(self, number: int) -> int:
        """The length of a passage in characters."""
        return self.starts[number + 1] - self.starts[number]


@kept_with_file
def passages(file: FileText) -> Passages:
    """Divide a file into passages."""
    starts = file.starts
    cuts = sorted({*_cuts(file, 0, len(file.lines), _top(file)), len(file.lines)})
    found = array("L", (0,))
    for cut in cuts:
        if cut <= found[-1]:
            continue
        if len(found) > 1 and (
            _may_join(starts, found[-2], found[-1], cut) or _is_empty(file, found[-1], cut)
        ):
            found[-1] = cut
        else:
            found.append(cut)
    return Passages(found, array("L", map(starts.__getitem__, found)))


def _may_join(starts: array[int], before: int, begin: int, end: int) -> bool:
    """Whether the lines from ``begin`` to ``end`` join the passage that begins at the line ``before``."""
    held, size = starts[begin] - starts[before], starts[end] - starts[begin]
    return min(held, size) < _SHORTEST and held + size <= _LONGEST


def _is_empty(file: FileText, begin: int, end: int) -> bool:
    """Whether there is nothing to show in the lines from ``begin`` to ``end``."""
    starts = file.starts
    size = starts[end] - starts[begin]
    return size < _SHORTEST and not file.source.text[starts[begin] : starts[end]].strip()


def _top(file: FileText) -> list[Symbol]:
    return [symbol for symbol in file.long_definitions if symbol.kind != "field"]


def _cuts(file: FileText, first: int, last: int, symbols: list[Symbol]) -> Iterator[int]:
    """The lines at which the stretch from ``first`` to ``last`` is divided."""
    starts = file.starts
    if starts[last] - starts[first] <= _LONGEST:
        return
    at = first
    inside = [symbol for symbol in symbols if first <= symbol.start and symbol.end <= last]
    # Where the first of the last definitions begins, by their number: most definitions have none inside.
    nearest = [last, *accumulate((symbol.start for symbol in reversed(inside)), min)]
    for place, symbol in enumerate(inside):
        end = min(symbol.end, last)
        if symbol.start < at or (symbol.start, end) == (first, last):
            continue
        # Most stretches are short, and to ask here takes less time than a call.
        if starts[symbol.start] - starts[at] > _LONGEST:
            yield from _long_stretch(file, at, symbol.start)
        yield symbol.start
        yield end
        if symbol.kind == "function" and starts[end] - starts[symbol.start] <= _FUNCTION:
            at = end
            continue
        if nearest[len(inside) - place - 1] < end:
            below = [other for other in inside[place + 1 :] if other.start < end]
            yield from _cuts(file, symbol.start, end, below)
        elif starts[end] - starts[symbol.start] > _LONGEST:
            yield from _long_stretch(file, symbol.start, end)
        at = end
    yield from _long_stretch(file, at, last)


def _long_stretch(file: FileText, first: int, last: int) -> Iterator[int]:
    """Divides a long stretch without definitions inside, at empty lines where there are some."""
    starts, text = file.starts, file.source.text
    at = first
    while starts[last] - starts[at] > _LONGEST:
        end = bisect_left(starts, starts[at] + _PART, at + 1, last)
        first_empty = bisect_right(starts, starts[at] + _SHORTEST, at + 1, end)
        backwards = range(end - 1, first_empty - 1, -1)
        empty = (line for line in backwards if not text[starts[line] : starts[line + 1]].strip())
        end = next(empty, end - 1) + 1
        yield end
        at = end
