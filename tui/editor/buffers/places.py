"""Places in a text: a row and a column, or the number of characters before them."""

from __future__ import annotations

Place = tuple[int, int]
"""A row and a column, from 0."""


def index_at(text: str, place: Place) -> int:
    """How many characters stand before ``place``."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: place[0]]) + place[1]


def place_at(text: str, index: int) -> Place:
    """The place behind the first ``index`` characters."""
    before = text[:index]
    return before.count("\n"), index - (before.rfind("\n") + 1)
