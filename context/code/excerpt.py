"""Shortens a changed file to its outline, with the symbols that the change touched shown whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter

from context.code.outline import Outline
from context.code.symbols import Symbol

_WHOLE_SYMBOL = 160
"""Number of lines up to which a changed symbol is shown whole; of a longer one only lines near the change."""
_NEAR = 4
NOT_SHOWN = "not shown"
"""What is said of the lines of a gap."""
_LONG_HEAD = 12
"""Number of lines that are shown of a signature."""


def excerpt(lines: Sequence[str], found: Outline, changed: Iterable[range], *, outline: bool = True) -> str:
    """The lines that matter, in order; each gap between them is marked with its number of lines.

    ``lines`` are the file's lines, and ``changed`` the ranges of them that changed (indices from 0). With
    ``outline`` the signatures of all definitions are included, else only those around a change.
    """
    keep = [part for touched in changed for part in _around(touched, found.symbols, len(lines))]
    for symbol in found.symbols:
        if symbol.inside_function or symbol.kind == "constant":
            continue
        if outline or any(part.start < symbol.end and symbol.start < part.stop for part in keep if part):
            keep.append(_head(symbol, len(lines)))
    return _with_gaps(lines, keep)


def exact_excerpt(
    lines: Sequence[str],
    symbols: Iterable[Symbol],
    parts: Iterable[range],
    *,
    signatures: bool = False,
    gap: str = NOT_SHOWN,
) -> str:
    """These line ranges of a file as they are, below the signatures of what encloses them.

    With ``signatures`` those of all ``symbols`` are included. ``gap`` says what the lines between are.
    """
    keep = list(parts)
    starts = sorted(part.start for part in keep)
    for symbol in symbols:
        wanted = signatures and not symbol.inside_function and symbol.kind != "constant"
        inside = bisect_right(starts, symbol.start)
        if wanted or (inside < len(starts) and starts[inside] < symbol.end):
            keep.append(_head(symbol, len(lines)))
    return _with_gaps(lines, keep, gap)


def _head(symbol: Symbol, count: int) -> range:
    return range(symbol.head, min(symbol.head_end, symbol.head + _LONG_HEAD, count))


def _with_gaps(lines: Sequence[str], keep: Iterable[range], told: str = NOT_SHOWN) -> str:
    """The lines to keep, with a mark for each gap of more than one line."""
    out: list[str] = []
    at = 0
    for part in sorted(filter(None, keep), key=attrgetter("start")):
        start = max(at, part.start)
        if at < start:
            out += _between(lines, at, start, told)
        out += lines[start : part.stop]
        at = max(at, part.stop)
    out += _between(lines, at, len(lines), told)
    return "\n".join([*out, ""])


def _between(lines: Sequence[str], start: int, end: int, told: str) -> list[str]:
    """What stands for the lines from ``start`` to ``end``: one line is shown, since a mark is as long."""
    if end - start <= 1:
        return [*lines[start:end]]
    return [_gap(lines, start, end, told)]


def _around(touched: range, symbols: tuple[Symbol, ...], count: int) -> list[range]:
    """The lines to show for one change: the smallest symbol around it, or else the lines near it."""
    first, last = touched.start, max(touched.start, touched.stop - 1)
    holders = [
        symbol
        for symbol in symbols
        if symbol.start <= first
        and last < symbol.end
        and not symbol.inside_function
        and symbol.kind != "field"
    ]
    holder = min(holders, key=lambda symbol: symbol.end - symbol.start, default=None)
    if holder is not None and holder.end - holder.start <= _WHOLE_SYMBOL:
        return [range(holder.start, min(holder.end, count))]
    inside = [symbol for symbol in symbols if symbol.start < touched.stop and first < symbol.end]
    whole = [range(max(0, first - _NEAR), min(count, touched.stop + _NEAR))]
    for symbol in inside:
        if symbol.end - symbol.start <= _WHOLE_SYMBOL and symbol.kind != "field":
            whole.append(range(symbol.start, min(symbol.end, count)))
    return whole


def _gap(lines: Sequence[str], start: int, end: int, told: str) -> str:
    # A gap may be most of a long file, whose lines are made one by one: only the first ones are needed.
    first = next((line for line in map(lines.__getitem__, range(start, end)) if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return f"{indent}… {end - start} lines {told}"
