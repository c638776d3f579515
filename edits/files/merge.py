"""Three-way merge by lines, in which the user's text always wins.

Unlike in diff3, two changes conflict only if they affect the same lines: changes to adjacent lines are
both made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.files.diff import Change, changes
from edits.files.text import whole_lines


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines that both sides changed differently: ``mine`` is in the merged text, ``theirs`` is not.

    ``start`` and ``end`` are the lines of ``mine`` in the merged text, from 1, ``end`` one past the last.
    ``original`` is what both changed; it begins at the line ``at`` of ``Merged.origin``, from 1.
    """

    start: int
    end: int
    mine: str
    theirs: str
    original: str = ""
    at: int = 1


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text, and the conflicts where the other side's change was left out.

    ``origin`` is the base for the next merge, as long as the conflicts are open: theirs, with the original
    lines where the sides conflict. Merged from there, the same conflicts are found again.
    """

    text: str
    conflicts: tuple[Conflict, ...]
    origin: str = ""


def merge3(base: str, mine: str, theirs: str, *, apart: bool = False) -> Merged:
    """Make the change from ``base`` to ``theirs`` in ``mine``; where both changed, ``mine`` stays.

    With ``apart``, changes to adjacent lines are conflicts too: there must be a line between them.
    """
    old, left, right = whole_lines(base), whole_lines(mine), whole_lines(theirs)
    ours, others = changes(old, left), changes(old, right)
    merged: list[str] = []
    origin: list[str] = []
    conflicts: list[Conflict] = []
    done = 0
    while ours or others:
        group_ours, group_others = _next_group(ours, others, apart)
        start, end = _span([*group_ours, *group_others])
        merged += old[done:start]
        origin += old[done:start]
        done = end
        kept = _side(old, left, group_ours, start, end)
        given = _side(old, right, group_others, start, end)
        if not group_others or kept == given:
            merged += kept
            origin += given
        elif not group_ours:
            merged += given
            origin += given
        else:
            line, original = len(merged) + 1, old[start:end]
            texts = ("".join(kept), "".join(given), "".join(original))
            conflicts.append(Conflict(line, line + len(kept), *texts, len(origin) + 1))
            merged += kept
            origin += original
    merged += old[done:]
    origin += old[done:]
    return Merged("".join(merged), tuple(conflicts), "".join(origin))


def _next_group(ours: list[Change], others: list[Change], apart: bool) -> tuple[list[Change], list[Change]]:
    """Take the next change from both lists, with all changes that affect the same lines."""
    taken: tuple[list[Change], list[Change]] = ([], [])
    queues = (ours, others)
    first = 0 if not others or (ours and _order(ours[0]) <= _order(others[0])) else 1
    taken[first].append(queues[first].pop(0))
    grown = True
    while grown:
        grown = False
        for side in (0, 1):
            while queues[side] and any(_touch(queues[side][0], change, apart) for change in taken[1 - side]):
                taken[side].append(queues[side].pop(0))
                grown = True
    return taken


def _order(change: Change) -> tuple[int, int]:
    return change.start, change.end


def _touch(one: Change, other: Change, apart: bool) -> bool:
    if apart:
        return one.start <= other.end and other.start <= one.end
    if one.start == one.end and other.start == other.end:
        return one.start == other.start
    return one.start < other.end and other.start < one.end


def _span(group: Sequence[Change]) -> tuple[int, int]:
    return min(change.start for change in group), max(change.end for change in group)


def _side(old: Sequence[str], new: Sequence[str], group: Sequence[Change], start: int, end: int) -> list[str]:
    """One side's text for the lines ``start`` to ``end`` of the base."""
    lines: list[str] = []
    for change in group:
        lines += old[start : change.start]
        lines += new[change.new_start : change.new_end]
        start = change.end
    return lines + list(old[start:end])
