"""Shortens a changed file to its outline, with the symbols that the change touched shown whole."""

from __future__ import annotations

from collections.abc import Iterable

from context.code.outline import Outline
from context.code.symbols import Symbol

_WHOLE_SYMBOL = 160
"""Number of lines up to which a changed symbol is shown whole; of a longer one only lines near the change."""
_NEAR = 4
_LONG_HEAD = 12
"""Number of lines that are shown of a signature."""


def excerpt(lines: list[str], found: Outline, changed: Iterable[range], *, outline: bool = True) -> str:
    """The lines that matter, in order; each gap between them is marked with its number of lines.

    ``lines`` are the file's lines, and ``changed`` the ranges of them that changed (indices from 0). With
    ``outline`` the signatures of all definitions are included, else only those around a change.
    """
    keep: set[int] = set()
    for touched in changed:
        keep |= _around(touched, found.symbols, len(lines))
    for symbol in found.symbols:
        if symbol.inside_function or symbol.kind == "constant":
            continue
        if outline or any(symbol.start <= line < symbol.end for line in keep):
            keep |= set(range(symbol.head, min(symbol.head_end, symbol.head + _LONG_HEAD, len(lines))))
    out: list[str] = []
    at = 0
    for line in sorted(keep):
        if line > at:
            out.append(_gap(lines, at, line))
        out.append(lines[line])
        at = line + 1
    if at < len(lines):
        out.append(_gap(lines, at, len(lines)))
    return "".join(f"{line}\n" for line in out)


def _around(touched: range, symbols: tuple[Symbol, ...], count: int) -> set[int]:
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
        return set(range(holder.start, min(holder.end, count)))
    inside = [symbol for symbol in symbols if symbol.start < touched.stop and first < symbol.end]
    whole = set(range(max(0, first - _NEAR), min(count, touched.stop + _NEAR)))
    for symbol in inside:
        if symbol.end - symbol.start <= _WHOLE_SYMBOL and symbol.kind != "field":
            whole |= set(range(symbol.start, min(symbol.end, count)))
    return whole


def _gap(lines: list[str], start: int, end: int) -> str:
    indent = next((line[: len(line) - len(line.lstrip())] for line in lines[start:end] if line.strip()), "")
    return f"{indent}… {end - start} line{'s' if end - start > 1 else ''} not shown"
