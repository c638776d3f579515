"""What changed between two sequences of lines, as replaced ranges or as the lines of a hunk.

Common ends are cut off, and the middle is split at lines that occur once on both sides (patience diff).
Only what is left between such lines is searched by difflib. This is fast on large files, and blank lines
and lone braces do not mislead it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from edits.hunk import Hunk, HunkLine, LineKind

# Beyond this many pairs of lines difflib takes too long; the whole range then counts as replaced.
_MOST_PAIRS = 4_000_000


class Change(NamedTuple):
    """Items ``start`` to ``end`` of the old sequence became ``new_start`` to ``new_end`` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The replaced ranges that turn ``old`` into ``new``, in order. No two are adjacent."""
    found: list[Change] = []
    for change in _changes(old, new, 0, len(old), 0, len(new)):
        if found and found[-1].end == change.start and found[-1].new_end == change.new_start:
            found[-1] = Change(found[-1].start, change.end, found[-1].new_start, change.new_end)
        else:
            found.append(change)
    return found


def paired(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The indices of lines that stayed, and of lines that replaced others in the order they are in."""
    at = new_at = 0
    for change in [*changes(old, new), Change(len(old), len(old), len(new), len(new))]:
        yield from zip(range(at, change.start), range(new_at, change.new_start), strict=True)
        old_lines, new_lines = range(change.start, change.end), range(change.new_start, change.new_end)
        yield from zip(old_lines, new_lines, strict=False)
        at, new_at = change.end, change.new_end


def _changes(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[Change]:
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    if a == b and c == d:
        return []
    if a == b or c == d:
        return [Change(a, b, c, d)]
    anchors = _unique_pairs(old, new, a, b, c, d)
    if not anchors:
        return _plain(old, new, a, b, c, d)
    found: list[Change] = []
    for at, new_at in [*anchors, (b, d)]:
        found += _changes(old, new, a, at, c, new_at)
        a, c = at + 1, new_at + 1
    return found


def _plain(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[Change]:
    if (b - a) * (d - c) > _MOST_PAIRS:
        return [Change(a, b, c, d)]
    matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    return [Change(a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]


def _unique_pairs(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """The indices of lines that occur once on both sides: the longest sequence in the same order."""
    old_counts, new_counts = Counter(old[a:b]), Counter(new[c:d])
    where = {new[j]: j for j in range(c, d) if new_counts[new[j]] == 1}
    pairs = [(i, where[old[i]]) for i in range(a, b) if old_counts[old[i]] == 1 and old[i] in where]
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        before.append(last[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            last.append(index)
        else:
            tails[at] = j
            last[at] = index
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def edited(old: Sequence[str], new: Sequence[str]) -> tuple[HunkLine, ...]:
    """The edit of ``old`` to ``new``. What both have in common is context, whose bytes are the file's."""
    lines: list[HunkLine] = []
    at = 0
    for change in changes(old, new):
        lines += [HunkLine(LineKind.CONTEXT, text) for text in old[at : change.start]]
        lines += [HunkLine(LineKind.OLD, text) for text in old[change.start : change.end]]
        lines += [HunkLine(LineKind.NEW, text) for text in new[change.new_start : change.new_end]]
        at = change.end
    lines += [HunkLine(LineKind.CONTEXT, text) for text in old[at:]]
    return tuple(lines)


def rewritten(hunk: Hunk, new: Sequence[str]) -> Hunk:
    """``hunk`` with ``new`` in place of its new lines. What it looks for stays, and lines that are in both
    are context, whose bytes stay those of the file."""
    lines = edited(hunk.old, new)
    return replace(hunk, lines=lines, replacement=None, alternatives=(), replace_all=False)
