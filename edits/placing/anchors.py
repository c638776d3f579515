"""Uses a V4A hunk's anchors to select a place: ``@@ class A`` and ``@@ def f`` mean *the f within A*.

An anchor's scope is what an editor would fold under it: the lines below it that are indented deeper, up
to the next line that is not. Text without indentation has no scopes, only an order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from edits.files.folding import fold, indentation

# The names in anchors such as `@@ class A`, `@@ pub fn run(self)`, `@@ A.run`, `@@ function run() {`.
_NAME = re.compile(r"[^\W\d]\w*")


class Symbol(Protocol):
    """A definition in a file; ``start`` and ``end`` are lines from 0, end exclusive."""

    @property
    def name(self) -> str:
        """The definition's own name, without that of its class or module."""

    @property
    def start(self) -> int:
        """Its first line."""

    @property
    def end(self) -> int:
        """One past its last line."""


def settle_by_anchors(
    lines: Sequence[str], starts: Sequence[int], size: int, anchors: Sequence[str]
) -> list[int]:
    """The starts that have all anchors above them, in order; if some are in their scope, only those."""
    places = _places(lines, anchors)
    below: list[int] = []
    within: list[int] = []
    for start in starts:
        chain = _chain_above(places, start, start + size)
        if chain is None:
            continue
        below.append(start)
        steps = [*chain, start]
        if all(in_scope(lines, outer, inner) for outer, inner in pairwise(steps)):
            within.append(start)
    return within or below


def anchor_line(lines: Sequence[str], anchors: Sequence[str]) -> int | None:
    """The line of the last anchor, from 0, given those before it; None if there is none or several."""
    *outer, last = anchors
    starts = _places(lines, [last])[0]
    if outer:
        starts = [start for start in starts if start in settle_by_anchors(lines, starts, 0, outer)]
    return starts[0] if len(starts) == 1 else None


def settle_by_symbols(
    starts: Sequence[int], size: int, anchors: Sequence[str], symbols: Sequence[Symbol]
) -> list[int]:
    """The starts within the definitions that the anchors name, outermost first; all if they name none."""
    named = {symbol.name for symbol in symbols}
    path = [word for anchor in anchors for word in _NAME.findall(anchor.split("(")[0]) if word in named]
    if not path:
        return list(starts)
    spans = [(0, 1 << 60)]
    for name in path:
        spans = [
            (symbol.start, symbol.end)
            for symbol in symbols
            if symbol.name == name and any(a <= symbol.start and symbol.end <= b for a, b in spans)
        ]
    return [start for start in starts if any(a <= start and start + size <= b for a, b in spans)]


def stands(lines: Sequence[str], anchors: Sequence[str]) -> bool:
    """Whether any of the anchors is a line of the file, or the beginning of one."""
    return any(_places(lines, anchors))


def _places(lines: Sequence[str], anchors: Sequence[str]) -> list[list[int]]:
    """For each anchor the lines equal to it, from 0, or else the lines that begin with it."""
    bare = [line.lstrip() for line in fold(lines)]
    found: list[list[int]] = []
    for anchor in fold([anchor.strip() for anchor in anchors]):
        equal = [index for index, line in enumerate(bare) if line == anchor]
        found.append(equal or [index for index, line in enumerate(bare) if line.startswith(anchor)])
    return found


def _chain_above(places: Sequence[Sequence[int]], start: int, end: int) -> list[int] | None:
    """The nearest line of each anchor, each above the next inner one; None if an anchor has none.

    The innermost may be a line of the hunk itself, since models repeat the anchor as context.
    """
    chain: list[int] = []
    for candidates in reversed(places):
        above = [line for line in candidates if line <= start] or [line for line in candidates if line < end]
        if not above:
            return None
        start = max(above) if max(above) <= start else min(above)
        end = start
        chain.append(start)
        start -= 1
    return chain[::-1]


def in_scope(lines: Sequence[str], outer: int, inner: int) -> bool:
    """Whether an editor would fold line ``inner`` under line ``outer``."""
    depth = len(indentation(lines[outer]))
    for line in lines[outer + 1 : inner + 1]:
        text = line.strip()
        if text and len(indentation(line)) <= depth and text[0] not in ")]}{":
            return False
    return True
