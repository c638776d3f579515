"""One text edited to another, as the lines of a hunk."""

from __future__ import annotations

from collections.abc import Sequence

from edits.files.diff import changes
from edits.hunk import HunkLine, LineKind


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
