"""A place that a change needs too: lines of a file, and what they would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.assist.next_edit.move import Move
from session.assist.next_edit.rename import Rename
from session.assist.next_edit.signature import SignatureChange

_AROUND = 3

Cause = Rename | SignatureChange | Move
"""The change that a place follows."""


@dataclass(frozen=True, slots=True)
class NextPlace:
    """The lines ``old`` of a file from line ``line`` (from 1) on, and what they would be: None where only a
    model can tell. ``above`` and ``below`` are the lines around them, by which they are found."""

    cause: Cause
    path: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...] | None
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def hunk(self) -> Hunk:
        """The change as a hunk."""
        assert self.new is not None, "it is known what the lines would be"
        lines = (
            *(HunkLine(LineKind.CONTEXT, text) for text in self.above),
            *(HunkLine(LineKind.OLD, text) for text in self.old),
            *(HunkLine(LineKind.NEW, text) for text in self.new),
            *(HunkLine(LineKind.CONTEXT, text) for text in self.below),
        )
        hint = self.line - len(self.above)
        return Hunk(self.path, Action.UPDATE, Format.UNIFIED, lines, line_hint=hint)

    def in_lines(self, lines: Sequence[str]) -> NextPlace | None:
        """The place in a file whose lines are ``lines`` now: where its lines are, the nearest to where they
        were. None where they are gone."""
        count, first = len(self.old), self.old[0]
        rows = [
            row
            for row, line in enumerate(lines)
            if line == first and tuple(lines[row : row + count]) == self.old
        ]
        row = min(rows, key=lambda each: abs(each - self.line + 1), default=None)
        if row is None:
            return None
        above, below = _around(lines, row, count)
        return replace(self, line=row + 1, above=above, below=below)


def place_in(
    cause: Cause, path: str, lines: Sequence[str], row: int, count: int, new: tuple[str, ...] | None
) -> NextPlace:
    """The place of ``count`` of the ``lines`` of a file, from ``row`` (from 0) on."""
    return NextPlace(cause, path, row + 1, tuple(lines[row : row + count]), new, *_around(lines, row, count))


def _around(lines: Sequence[str], row: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines above a place and below it."""
    end = row + count
    return tuple(lines[max(0, row - _AROUND) : row]), tuple(lines[end : end + _AROUND])
