"""Writes what changed between two texts as the hunks of a unified diff.

Source of the format: the unified format of GNU diff ("Detailed Description of Unified Format").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edits.files.diff import Change, changes


def unified_hunks(old: Sequence[str], new: Sequence[str], *, context: int) -> Iterator[str]:
    """The lines of the hunks that turn ``old`` into ``new``, without line ends and without file names.

    Each change is shown with ``context`` lines before and after it; changes whose context would touch
    share a hunk. Nothing is given where the two are equal.
    """
    for group in _groups(changes(old, new), context):
        before = min(context, group[0].start)
        after = min(context, len(old) - group[-1].end)
        start, end = group[0].start - before, group[-1].end + after
        new_start, new_end = group[0].new_start - before, group[-1].new_end + after
        yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
        at = start
        for change in group:
            yield from (f" {line}" for line in old[at : change.start])
            yield from (f"-{line}" for line in old[change.start : change.end])
            yield from (f"+{line}" for line in new[change.new_start : change.new_end])
            at = change.end
        yield from (f" {line}" for line in old[at:end])


def _groups(found: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """The changes that share a hunk, in order."""
    group: list[Change] = []
    for change in found:
        if group and change.start - group[-1].end > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    """The lines ``start`` to ``end`` (from 0, end exclusive) in the notation of a hunk's head."""
    length = end - start
    if length == 1:
        return str(start + 1)
    # An empty range names the line before it.
    return f"{start if length == 0 else start + 1},{length}"
