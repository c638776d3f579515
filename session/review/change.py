"""The change under review: files before and after, and which lines differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from edits.files.diff import Change, changes


@dataclass(frozen=True)
class ReviewedFile:
    """One changed file; ``before`` is None for a new one. Lines are without their ends."""

    path: str
    before: tuple[str, ...] | None
    after: tuple[str, ...]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What differs, as replaced ranges of lines from 0."""
        return tuple(changes(self.before or (), self.after))

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the lines ``start`` to ``end`` (from 1, both included) was changed. Where lines were
        only removed, the lines beside the gap count."""
        for change in self.changes:
            # From 1: the changed lines, or the two beside a gap.
            gap = change.new_start == change.new_end
            first, last = (
                (change.new_start, change.new_end + 1) if gap else (change.new_start + 1, change.new_end)
            )
            if start <= last and end >= first:
                return True
        return False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A changed file that is not reviewed, and why, in words for the user."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """All of a change."""

    files: tuple[ReviewedFile, ...]
    left_out: tuple[LeftOut, ...] = ()

    def file(self, path: str) -> ReviewedFile | None:
        """The file called ``path``."""
        return next((file for file in self.files if file.path == path), None)
