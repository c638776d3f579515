"""Sorting long lists, and making sets of them, without blocking other threads for long."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparisonT as T
else:
    T = TypeVar("T")

_AT_ONCE = 6_000
"""Number of texts or pairs that are sorted, or made a set of, in one call: it lets no other thread run."""
_LOOKED_AT = 8
"""Number of values that are looked at for each part, so that all parts are about as long."""


def sorted_in_parts(values: Iterable[T], at_once: int = _AT_ONCE) -> list[T]:
    """The values in order, as ``sorted`` has them; equal ones keep their order. About ``at_once`` are sorted
    in one call."""
    held = list(values)
    count = len(held) // at_once
    if not count:
        held.sort()
        return held
    sample = sorted(held[:: max(1, len(held) // (_LOOKED_AT * (count + 1)))])
    bounds = sample[_LOOKED_AT::_LOOKED_AT]
    parts: list[list[T]] = [[] for _ in range(len(bounds) + 1)]
    for value in held:
        parts[bisect_right(bounds, value)].append(value)
    found: list[T] = []
    for part in parts:
        part.sort()
        found += part
    return found


def set_in_parts(values: Sequence[T], at_once: int = _AT_ONCE) -> set[T]:
    """The set of the values, of which ``at_once`` are looked at in one call."""
    found: set[T] = set()
    for at in range(0, len(values), at_once):
        found.update(values[at : at + at_once])
    return found
