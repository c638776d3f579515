"""Byte pair merging: into how many tokens a piece of text falls."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from context.text.rank_table import NONE, RankTable


def count_merged(table: RankTable, piece: bytes) -> int:
    """The number of tokens of ``piece``: the adjacent parts that make the lowest token become one, the
    leftmost first, until no two make one. At first each byte is a part.

    The time is that of n log n steps for n bytes.
    """
    place = table.place
    size = len(piece)
    if size < 2 or place(piece) != NONE:
        return 1
    following = [*range(1, size + 1), size]
    """For each part, by its first byte, where the next one begins; 0 where no part begins any more."""
    before = [*range(-1, size)]
    """For each part, by its first byte, where the one before it begins."""
    waiting = [
        (at, start, start + 2) for start in range(size - 1) if (at := place(piece[start : start + 2])) != NONE
    ]
    heapify(waiting)
    count = size
    while waiting:
        _, start, end = heappop(waiting)
        second = following[start]
        if not second or second == size or following[second] != end:
            continue  # one of the two has become another part meanwhile
        following[start], following[second] = end, 0
        before[end] = start
        count -= 1
        if end < size and (at := place(piece[start : following[end]])) != NONE:
            heappush(waiting, (at, start, following[end]))
        if start and (at := place(piece[before[start] : end])) != NONE:
            heappush(waiting, (at, before[start], end))
    return count
