"""Places a hunk that a program made of two texts of a file: where its old text stands, to the character.

Such a hunk was made from the file itself, so nothing in it is a slip. Its lines are where they were, or in
one other place, or else the hunk is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from edits.hunk import Hunk, RefusalCode, Rung
from edits.placing.locate import Miss, Place

_CHANGED = "the lines that it is for have changed since"


def place_made(lines: Sequence[str], hunk: Hunk) -> Place | Miss:
    """The place of ``hunk`` in a file of these ``lines``."""
    old = hunk.old
    at = (hunk.line_hint or 1) - 1
    if _stands(lines, old, at):
        return Place(at, at + len(old), Rung.EXACT, hunk.lines)
    found = [start for start in range(len(lines) - len(old) + 1) if _stands(lines, old, start)] if old else []
    if len(found) != 1:
        return Miss(RefusalCode.AMBIGUOUS if found else RefusalCode.NO_MATCH, _CHANGED)
    return Place(found[0], found[0] + len(old), Rung.EXACT, hunk.lines)


def _stands(lines: Sequence[str], old: Sequence[str], at: int) -> bool:
    return (not old or (at < len(lines) and lines[at] == old[0])) and tuple(
        lines[at : at + len(old)]
    ) == tuple(old)
