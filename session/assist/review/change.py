"""The change under review: files before and after, and which lines differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from context.disk.source import Source, Unread, decode
from context.text.generated import is_unedited
from context.text.secrets import is_secret_file, masked_lines
from edits.files.diff import Change, changes

_DATA = re.compile(r".+\.(?:json[l5]?|ndjson|geojson|[ct]sv|xml|svg|ya?ml|toml|sql|log|txt|po|ipynb)", re.I)
_LONGEST_DATA = 30_000
"""Characters of a file of data that people still read."""
AROUND = 15
"""Lines that a model is shown before and after each changed range."""


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

    @cached_property
    def masked(self) -> tuple[list[str], list[str]]:
        """The lines before and after as a model may see them: without secrets."""
        return masked_lines(self.before or ()), masked_lines(self.after)

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the lines ``start`` to ``end`` (from 1, both included) was changed. Where lines were
        only removed, the lines beside the gap count."""
        return self._near(start, end, 0)

    def shows(self, start: int, end: int) -> bool:
        """Whether a model that reviews the change is shown one of these lines."""
        return self._near(start, end, AROUND)

    def _near(self, start: int, end: int, around: int) -> bool:
        for change in self.changes:
            # From 1: the changed lines, or the two beside a gap.
            gap = change.new_start == change.new_end
            first, last = (
                (change.new_start, change.new_end + 1) if gap else (change.new_start + 1, change.new_end)
            )
            if start <= last + around and end >= first - around:
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


def reviewable(path: str, before: Sequence[str] | None, after: Source | Unread) -> ReviewedFile | LeftOut:
    """A changed file, or why it is not sent: it may hold secrets, is no text or is not written by hand."""
    if is_secret_file(path):
        return LeftOut(path, "it may hold secrets")
    if isinstance(after, Unread):
        return LeftOut(path, after.why)
    if is_unedited(path, after.text):
        return LeftOut(path, "it is generated or vendored")
    if len(after.text) > _LONGEST_DATA and _DATA.fullmatch(path):
        return LeftOut(path, "it is a large file of data")
    return ReviewedFile(path, None if before is None else tuple(before), tuple(after.lines))


def lines_in(path: str, data: bytes | None) -> tuple[str, ...] | None:
    """The lines of a file whose bytes were ``data``; None where there was none, or no text."""
    found = decode(path, data) if data is not None else None
    return tuple(found.lines) if isinstance(found, Source) else None
