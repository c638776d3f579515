"""The value for one definition in a file, from which outlines are made, and the packed ranges of its lines.

The line ranges of a file's definitions are packed so that its parts can be chosen without parsing it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

KINDS = ("function", "class", "type", "field", "constant", "section")
"""The kinds of definitions, most important first. A section is a heading, a key of a data file or an element
of a page: it can be mentioned, but code elsewhere does not refer to it."""
CUT = "…"
"""The last character of a signature or documentation that was cut to a length."""


class Symbol(NamedTuple):
    """One definition. ``start`` and ``end`` are line indices from 0, ``end`` one past the last; they
    include the comments, attributes and decorators that belong to it. ``depth`` counts the
    definitions around it; ``inside_function`` is true for a local one, which no outline shows."""

    kind: str
    name: str
    signature: str
    doc: str
    start: int
    end: int
    head: int = 0
    """The line where the signature begins, past comments and decorators."""
    head_end: int = 0
    """One past the line where the signature ends."""
    depth: int = 0
    inside_function: bool = False
    variant: bool = False
    """Whether it is the same as an earlier one under another ``#if`` condition; outlines show that one."""


_ROW = 5
"""Numbers of 16 bits for each definition: its lines and those of its head, then kind, place and depth."""
_MOST = 0xFFFF
_BEYOND = _MOST + 1
"""A line that is behind all that are packed."""
_MARK = b"\1"
"""The first byte, which tells a file without such definitions from one that is not packed."""


def long_definitions(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """The definitions of more than one line."""
    return tuple(symbol for symbol in symbols if symbol.end - symbol.start > 1)


def pack_layout(symbols: Iterable[Symbol]) -> bytes:
    """The definitions of more than one line, without names and texts; empty if the file is too long."""
    rows = array("H")
    for symbol in long_definitions(symbols):
        if symbol.end > _MOST or symbol.head_end > _MOST:
            return b""
        flags = KINDS.index(symbol.kind) | symbol.inside_function << 3 | min(symbol.depth, 0xFFF) << 4
        rows.extend((symbol.start, symbol.end, symbol.head, symbol.head_end, flags))
    return _MARK + rows.tobytes()


def unpack_layout(packed: bytes, around: Sequence[int] | None = None) -> tuple[Symbol, ...] | None:
    """What :func:`pack_layout` packed, with empty names and texts; None if there is nothing, or if the bytes
    are damaged. With ``around``, sorted lines, only the definitions that have one of these lines behind their
    first one.
    """
    rows = array("H")
    if packed[:1] != _MARK or (len(packed) - 1) % (_ROW * rows.itemsize):
        return None
    rows.frombytes(packed[1:])
    found = []
    wanted = range(len(rows) // _ROW) if around is None else _around(rows, around)
    for row in wanted:
        start, end, head, head_end, flags = rows[row * _ROW : row * _ROW + _ROW]
        kind = flags & 7
        if kind >= len(KINDS) or not start <= head < end:
            return None
        symbol = Symbol(KINDS[kind], "", "", "", start, end, head, head_end, flags >> 4, bool(flags >> 3 & 1))
        found.append(symbol)
    return tuple(found)


def _around(rows: array[int], lines: Sequence[int]) -> Iterator[int]:
    """The numbers of the rows of definitions with one of the sorted ``lines`` behind their first one."""
    beyond = [*lines, _BEYOND]
    for row, (start, end) in enumerate(zip(rows[::_ROW], rows[1::_ROW], strict=True)):
        if beyond[bisect_right(lines, start)] < end:
            yield row
