"""Puts other lines in the place of those that a hunk would land: what the user made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edits.files.diff import changes
from edits.hunk import Hunk, HunkLine, LineKind


def rewritten(hunk: Hunk, new: Sequence[str]) -> Hunk:
    """``hunk`` with ``new`` in place of its new lines. What it looks for stays, and lines that are in both
    are context, whose bytes stay those of the file."""
    old = hunk.old
    lines: list[HunkLine] = []
    at = 0
    for change in changes(old, new):
        lines += [HunkLine(LineKind.CONTEXT, line) for line in old[at : change.start]]
        lines += [HunkLine(LineKind.OLD, line) for line in old[change.start : change.end]]
        lines += [HunkLine(LineKind.NEW, line) for line in new[change.new_start : change.new_end]]
        at = change.end
    lines += [HunkLine(LineKind.CONTEXT, line) for line in old[at:]]
    return replace(hunk, lines=tuple(lines), replacement=None, alternatives=(), replace_all=False)
