"""What changed in a file: its status, and the lines that differ from its earlier state.

The earlier state is kept as a checksum of each line, so that a later save is compared without git.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TypeAlias

from context.disk.source import Source
from context.text.lines import line_slices

Lines: TypeAlias = "array[int]"
"""The CRC-32 of each line, in order."""

_LARGEST_MIDDLE = 4_000_000
"""Largest product of line counts for which two texts are compared; beyond it the middle is one change."""


class Status(StrEnum):
    """How a file differs."""

    MODIFIED = "modified"
    ADDED = "added"
    UNTRACKED = "untracked"
    DELETED = "deleted"
    RENAMED = "renamed"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file. ``base`` is its earlier state; None if there was none or it is not text.

    ``packed`` is the earlier text, compressed; empty if it is not known."""

    path: str
    status: Status
    base: Lines | None = None
    renamed_from: str | None = None
    packed: bytes = b""

    @property
    def text(self) -> str:
        """The earlier text; empty if it is not known."""
        return zlib.decompress(self.packed).decode("utf-8", "surrogatepass") if self.packed else ""

    def ranges(self, lines: Lines) -> list[range]:
        """The changed ranges of the current ``lines``, as indices from 0.

        A range is empty where lines were only removed. Without an earlier state, everything changed.
        """
        return [range(len(lines))] if self.base is None else changed_ranges(self.base, lines)


def packed(source: Source) -> bytes:
    """A file's text as a :class:`Change` keeps it."""
    return zlib.compress(source.text.encode("utf-8", "surrogatepass"), 1)


def line_sums(source: Source) -> Lines:
    """The checksums of a file's lines."""
    sums = array("I")
    for part in line_slices(source.text):
        lines = part.encode("utf-8", "surrogatepass").split(b"\n")
        if not lines[-1]:
            lines.pop()
        sums.extend(map(zlib.crc32, lines))
    return sums


def changed_ranges(before: Lines, after: Lines) -> list[range]:
    """The ranges of ``after`` that differ from ``before``, in order."""
    return [new for _, new in differences(before, after)]


def known_ranges(before: Lines, after: Lines, known: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges (first, one past the last) of ``after`` that somebody knows who knows these ranges of
    ``before`` and was told each difference; joined and in order. Empty if the texts are too long to compare.
    """
    found = differences(before, after)
    if any(len(old) * len(new) > _LARGEST_MIDDLE for old, new in found):
        return []
    ranges = [(new.start, new.stop) for _, new in found]
    at = moved = 0
    # Between the differences, the lines are the same, moved by the lengths of the differences before them.
    for old, new in [*found, (range(len(before), len(before)), range(len(after), len(after)))]:
        for first, stop in known:
            ranges.append((max(first, at) + moved, min(stop, old.start) + moved))
        at, moved = old.stop, new.stop - old.stop
    joined: list[tuple[int, int]] = []
    for first, stop in sorted(each for each in ranges if each[0] < each[1]):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((first, stop))
    return joined


def differences(before: Lines, after: Lines) -> list[tuple[range, range]]:
    """The ranges of ``before`` that differ, in order, each with the range of ``after`` in its place."""
    start = 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = range(start, len(before) - end), range(start, len(after) - end)
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _LARGEST_MIDDLE:
        return [(old, new)]
    matcher = SequenceMatcher(None, before[old.start : old.stop], after[new.start : new.stop], autojunk=False)
    return [
        (old[old_start:old_end], new[new_start:new_end])
        for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]
