"""The places that a rename left behind: lines that still have the old name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from context.code.languages import language_of
from context.project.snapshot import Snapshot
from context.text.secrets import is_secret_file
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.next_edit.rename import Rename
from session.project.definitions import definitions_in

MOST_FILES = 400
"""Files that are looked through for one rename, the likeliest first."""
MOST_PLACES = 200
"""Places that are offered for one rename."""
_AROUND = 3


@dataclass(frozen=True, slots=True)
class NextPlace:
    """Line ``line`` (from 1) of a file, what it is now and what it would be; ``above`` and ``below`` are the
    lines around it, by which it is found."""

    path: str
    line: int
    old: str
    new: str
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def hunk(self) -> Hunk:
        """The change as a hunk."""
        lines = (
            *(HunkLine(LineKind.CONTEXT, text) for text in self.above),
            HunkLine(LineKind.OLD, self.old),
            HunkLine(LineKind.NEW, self.new),
            *(HunkLine(LineKind.CONTEXT, text) for text in self.below),
        )
        hint = self.line - len(self.above)
        return Hunk(self.path, Action.UPDATE, Format.UNIFIED, lines, line_hint=hint)


def as_it_is(place: NextPlace, lines: Sequence[str]) -> NextPlace | None:
    """The place in a file whose lines are ``lines`` now: where its line is, the nearest to where it was. None
    where it is gone."""
    rows = [row for row, line in enumerate(lines) if line == place.old]
    row = min(rows, key=lambda each: abs(each - place.line + 1), default=None)
    return None if row is None else _place(place.path, lines, row, place.new)


def names_in(path: str, lines: Sequence[str]) -> frozenset[str]:
    """The names of the definitions in a text, without those around them; it parses."""
    found = definitions_in(path, "\n".join(lines))
    return frozenset(each.name.rpartition(".")[2] for each in found if each.kind != "section")


def places_in(path: str, lines: Sequence[str], rename: Rename) -> list[NextPlace]:
    """The lines of one file that still have the old name."""
    wanted = re.compile(rf"\b{re.escape(rename.old)}\b")
    return [
        _place(path, lines, row, rename.applied(line))
        for row, line in enumerate(lines)
        if wanted.search(line)
    ]


def _place(path: str, lines: Sequence[str], row: int, new: str) -> NextPlace:
    above, below = lines[max(0, row - _AROUND) : row], lines[row + 1 : row + 1 + _AROUND]
    return NextPlace(path, row + 1, lines[row], new, tuple(above), tuple(below))


def places(path: str, rename: Rename, snapshot: Snapshot) -> list[NextPlace]:
    """The places that ``rename``, made in ``path``, left behind: in that file first, then in the files of the
    same language that the index has the name in. Where another file defines the old name too, it may be meant
    there: then only in that file. It reads files."""
    language = language_of(path)
    others = snapshot.words.score({rename.old.lower(): 1.0})
    ranked = sorted(others, key=lambda each: (-others[each], each))
    found: list[NextPlace] = []
    elsewhere: list[NextPlace] = []
    for other in [path, *(each for each in ranked if each != path)][:MOST_FILES]:
        if language_of(other) is not language or is_secret_file(other) or other not in snapshot.paths:
            continue
        source = snapshot.read(other)
        lines = getattr(source, "lines", None)
        if lines is None:
            continue
        if other == path:
            found = places_in(other, lines, rename)
            continue
        if rename.old in names_in(other, lines):
            return found[:MOST_PLACES]
        elsewhere += places_in(other, lines, rename)
    return [*found, *elsewhere][:MOST_PLACES]
