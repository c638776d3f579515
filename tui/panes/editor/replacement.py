"""Turns one text into another by a single replacement of whole lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """Replaces the text between two (row, column) places by ``insert``. ``rows`` is the same in rows: the
    first, the number removed, the number added."""

    start: tuple[int, int]
    end: tuple[int, int]
    insert: str
    rows: tuple[int, int, int]


def block_of(old: Sequence[str], new: Sequence[str]) -> Block | None:
    """The smallest replacement that turns lines ``old`` into ``new``; None when they are equal."""
    shorter = min(len(old), len(new))
    same = 0
    while same < shorter and old[same] == new[same]:
        same += 1
    if same == len(old) == len(new):
        return None
    after = 0
    while after < shorter - same and old[-1 - after] == new[-1 - after]:
        after += 1
    gone, come = len(old) - same - after, new[same : len(new) - after]
    rows = (same, gone, len(come))
    if after:
        return Block((same, 0), (same + gone, 0), "".join(f"{line}\n" for line in come), rows)
    end = (len(old) - 1, len(old[-1]))
    if not come:
        return Block((same - 1, len(old[same - 1])), end, "", rows)
    if not gone:
        return Block(end, end, "\n" + "\n".join(come), rows)
    return Block((same, 0), end, "\n".join(come), rows)
