"""Says that a turn left a file with a syntax error."""

from __future__ import annotations

from collections.abc import Sequence


def broken_line(path: str, message: str, hunks: Sequence[str]) -> str:
    """Which file, what is wrong where, and since which hunks."""
    since = f", since {names(hunks)}" if hunks else ""
    return f"{path}: {message}{since}"


def names(hunks: Sequence[str]) -> str:
    """``h1``, ``h1 and h2``, ``h1, h2 and h3``, or the first, the last and how many."""
    if len(hunks) > 4:
        return f"{hunks[0]} to {hunks[-1]} ({len(hunks)} hunks)"
    return " and ".join([*([", ".join(hunks[:-1])] if len(hunks) > 1 else []), *hunks[-1:]])
