"""Compares lines on the first three rungs: equal, equal after folding, equal but for indentation."""

from __future__ import annotations

from collections.abc import Sequence

from edits.hunk import HunkLine, LineKind, Rung
from edits.placing.fold import fold
from edits.placing.indent import shift_of


def old_of(reading: Sequence[HunkLine]) -> list[str]:
    """The lines that a reading looks for."""
    return [line.text for line in reading if line.kind is not LineKind.NEW]


def new_of(reading: Sequence[HunkLine]) -> list[str]:
    """The lines that a reading leaves in the file."""
    return [line.text for line in reading if line.kind is not LineKind.OLD]


def tells(text: str) -> bool:
    """Whether a line has any letter or digit."""
    return any(map(str.isalnum, text))


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Every index at which ``lines`` continues with ``wanted``, which is not empty."""
    probe = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    needle, span = wanted[probe], list(wanted)
    found: list[int] = []
    at, last = probe, len(lines) - len(wanted) + probe
    while at <= last:
        try:
            at = lines.index(needle, at, last + 1)
        except ValueError:
            break
        start = at - probe
        if list(lines[start : start + len(span)]) == span:
            found.append(start)
        at += 1
    return found


def matches(folded: Sequence[str], old: Sequence[str], rung: Rung) -> list[int]:
    """Where one of the first three rungs finds ``old``; ``folded`` is the file as that rung compares it."""
    if rung is Rung.EXACT:
        return occurrences(folded, old)
    old = fold(old)
    if rung is Rung.FOLDED:
        return occurrences(folded, old)
    if not any(old):
        return []
    bare = [line.lstrip() for line in folded]
    starts = occurrences(bare, [line.lstrip() for line in old])
    return [start for start in starts if shift_of(folded[start : start + len(old)], old) is not None]
