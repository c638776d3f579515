"""Finds what a change did that other places have to follow. It parses: call it in a worker thread.

The places that a change left behind: old names, calls that fit no more, imports from where nothing is.

A place that a change needs too: lines of a file, and what they would be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from context.code.languages import Language, language_of
from context.code.parsing import nodes, text_of
from context.code.uses import Call, Import, calls, imports, signatures
from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from context.text.secrets import is_secret_file
from edits.files.diff import changes
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.assist.next_edit.move import Move, Moves, followed, importing, module_of
from session.assist.next_edit.rename import Rename, renames
from session.assist.next_edit.signature import CallEdit, SignatureChange, edit_of, signature_changes
from session.project.syntax import definitions_in

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


MOST_FILES = 400
"""Files that are looked through for one change, the likeliest first."""
MOST_PLACES = 200
"""Places that are offered for one change."""


def names_in(path: str, lines: Sequence[str]) -> frozenset[str]:
    """The names of the definitions in a text, without those around them; it parses."""
    found = definitions_in(path, "\n".join(lines))
    return frozenset(each.name.rpartition(".")[2] for each in found if each.kind != "section")


def places(
    cause: Cause, path: str, snapshot: Snapshot, written: Mapping[str, Collection[int]]
) -> list[NextPlace]:
    """The places that ``cause``, a change of the file ``path``, left behind: in that file first, then in the
    files of the same language that the index has the name in. Where another file defines the name too, that
    may be meant there: then only in that file, unless it was moved. ``written`` are the rows that the change
    wrote itself, from 0. It reads and parses files."""
    name = cause.old if isinstance(cause, Rename) else cause.name
    found: list[NextPlace] = []
    elsewhere: list[NextPlace] = []
    for other, lines in _files(name, path, snapshot):
        here = list(places_in(cause, other, lines, frozenset(written.get(other, ()))))
        if other == path:
            found = here
            continue
        if not isinstance(cause, Move) and name in names_in(other, lines):
            return found[:MOST_PLACES]
        elsewhere += here
    return [*found, *elsewhere][:MOST_PLACES]


def _files(name: str, path: str, snapshot: Snapshot) -> Iterator[tuple[str, Sequence[str]]]:
    """The files that may have the name, ``path`` first, with their lines."""
    language = language_of(path)
    others = snapshot.words.score({name.lower(): 1.0})
    ranked = sorted(others, key=lambda each: (-others[each], each))
    for other in [path, *(each for each in ranked if each != path)][:MOST_FILES]:
        if language_of(other) is not language or is_secret_file(other) or other not in snapshot.paths:
            continue
        lines = getattr(snapshot.read(other), "lines", None)
        if lines is not None:
            yield other, lines


def places_in(
    cause: Cause, path: str, lines: Sequence[str], written: Collection[int] = ()
) -> Iterator[NextPlace]:
    """The places in one file, whose lines are given; it parses."""
    language = language_of(path)
    if isinstance(cause, Rename):
        yield from _of_rename(cause, path, lines)
    elif language is not None and isinstance(cause, SignatureChange):
        yield from _of_signature(cause, path, lines, language, written)
    elif language is not None and isinstance(cause, Move):
        yield from _of_move(cause, path, lines, language)


def _of_rename(rename: Rename, path: str, lines: Sequence[str]) -> Iterator[NextPlace]:
    wanted = re.compile(rf"\b{re.escape(rename.old)}\b")
    for row, line in enumerate(lines):
        if wanted.search(line):
            yield place_in(rename, path, lines, row, 1, (rename.applied(line),))


def _of_signature(
    change: SignatureChange, path: str, lines: Sequence[str], language: Language, written: Collection[int]
) -> Iterator[NextPlace]:
    text = "\n".join(lines)
    source = text.encode()
    group: list[tuple[Call, CallEdit]] = []
    for call in sorted(calls(language, text, change.name), key=lambda each: each.row):
        edit = edit_of(call, change, source)
        if edit is None or any(row in written for row in range(call.row, call.last + 1)):
            continue
        if group and call.row > max(other.last for other, _ in group):
            yield _joined(change, path, lines, source, group)
            group = []
        group.append((call, edit))
    if group:
        yield _joined(change, path, lines, source, group)


def _joined(
    change: SignatureChange,
    path: str,
    lines: Sequence[str],
    source: bytes,
    group: Sequence[tuple[Call, CallEdit]],
) -> NextPlace:
    """One place of calls that share lines."""
    row, last = min(call.row for call, _ in group), max(call.last for call, _ in group)
    new = None if any(edit.open for _, edit in group) else _applied(lines, row, last, source, group)
    return place_in(change, path, lines, row, last + 1 - row, new)


def _applied(
    lines: Sequence[str], row: int, last: int, source: bytes, group: Iterable[tuple[Call, CallEdit]]
) -> tuple[str, ...] | None:
    """The lines after all edits; None where one is inside of another."""
    begin = sum(len(line.encode()) + 1 for line in lines[:row])
    end = begin + sum(len(line.encode()) + 1 for line in lines[row : last + 1]) - 1
    pieces = sorted(piece for _, edit in group for piece in edit.pieces)
    made, at = b"", begin
    for start, stop, text in pieces:
        if start < at:
            return None
        made += source[at:start] + text.encode()
        at = stop
    return tuple((made + source[at:end]).decode().split("\n"))


def _of_move(move: Move, path: str, lines: Sequence[str], language: Language) -> Iterator[NextPlace]:
    text = "\n".join(lines)
    found = imports(language, text)
    for statement in found:
        rows = statement.last + 1 - statement.row
        new = followed(statement, path, move, text.encode())
        if new is not None:
            yield place_in(move, path, lines, statement.row, rows, new)
        elif not statement.module and _names(statement, move):
            yield place_in(move, path, lines, statement.row, rows, None)
    if path == move.old and found and _uses(language, text, move.name):
        yield from _of_old_home(move, path, lines, found)


def _names(statement: Import, move: Move) -> bool:
    """Whether a statement of a language whose imports are not read names what was moved, and its file."""
    words = set(re.findall(r"\w+", statement.text))
    return {move.name, PurePosixPath(move.old).stem} <= words


def _uses(language: Language, text: str, name: str) -> bool:
    """Whether a text still uses a name, and does not import it."""
    if any(each.name == name for statement in imports(language, text) for each in statement.names):
        return False
    return any("identifier" in node.type and text_of(node) == name for node in nodes(language, text))


def _of_old_home(move: Move, path: str, lines: Sequence[str], found: Sequence[Import]) -> Iterator[NextPlace]:
    """The place for an import in the file that has what was moved no more, and still uses it."""
    module = module_of(move.new, path)
    like = [each for each in found if each.names]
    if module is None or not like:
        return
    last = like[-1]
    line = lines[last.last]
    if lines[last.row].startswith((" ", "\t")):
        return
    new = (line, importing(last, module, move.name))
    yield place_in(move, path, lines, last.last, 1, new)


Lines = tuple[str, ...]


def left_behind(changed: Collection[tuple[str, Lines]], snapshot: Snapshot, moves: Moves) -> list[NextPlace]:
    """The places that the change of some files, whose lines were as given, left behind."""
    found: list[tuple[Cause, str]] = []
    written: dict[str, frozenset[int]] = {}
    for path, before in changed:
        now = read(snapshot.root, path)
        if not isinstance(now, Source):
            continue
        after = tuple(now.lines)
        written[path] = frozenset(
            row for each in changes(before, after) for row in range(each.new_start, each.new_end)
        )
        found += [(cause, path) for cause in _in_file(path, before, after)]
        defined = definitions_in(path, "\n".join(before)), definitions_in(path, "\n".join(after))
        moved = moves.changed(path, (before, defined[0]), (after, defined[1]))
        found += [(move, move.old) for move in moved]
    return [place for cause, path in found for place in places(cause, path, snapshot, written)]


def _in_file(path: str, before: Sequence[str], after: Sequence[str]) -> list[Cause]:
    """What a change did in one file."""
    renamed: list[Cause] = list(renames(before, after, names_in(path, before), names_in(path, after)))
    language = language_of(path)
    if language is None:
        return renamed
    old, new = (signatures(language, "\n".join(lines)) for lines in (before, after))
    return [*renamed, *signature_changes(old, new)]
