"""Finds what a change did that other places have to follow. It parses: call it in a worker thread.

The places that a change left behind: old names, calls that fit no more, imports from where nothing is.

A place that a change needs too: lines of a file, and what they would be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from context.code.languages import Language, family_of, language_of
from context.code.parsing import nodes, text_of
from context.code.scopes import scoping_of
from context.code.uses import Call, Import, calls, imports, signatures
from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from context.text.secrets import is_secret_file
from edits.files.diff import changes
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.assist.next_edit.class_table import ClassTable
from session.assist.next_edit.move import Move, Moves, followed, importing, module_of
from session.assist.next_edit.own_body import body_lines
from session.assist.next_edit.references import References
from session.assist.next_edit.rename import Piece, Rename, renames
from session.assist.next_edit.signature import CallEdit, SignatureChange, edit_of, signature_changes
from session.project.definitions import definitions_in

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
    gone: str = ""
    """A parameter that the lines use and that there is no more."""

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


@dataclass(frozen=True, slots=True)
class Left:
    """What a change left behind: the places that are offered, of how many there are, and how many files that
    have the name were not looked through."""

    places: tuple[NextPlace, ...] = ()
    total: int = 0
    unread: int = 0

    def __add__(self, other: Left) -> Left:
        return Left((*self.places, *other.places), self.total + other.total, self.unread + other.unread)


def places(cause: Cause, path: str, snapshot: Snapshot, written: Mapping[str, Collection[int]]) -> Left:
    """The places that ``cause``, a change of the file ``path``, left behind: in that file first, then in the
    files of the same language that the index has the name in. Where another file defines the name of a
    function too, only calls that mean this one. ``written`` are the rows that the change wrote itself, from
    0. It reads and parses files."""
    name = cause.old if isinstance(cause, Rename) else cause.name
    ranked = _ranked(name, path, snapshot)
    files = {other: lines for other in ranked[:MOST_FILES] if (lines := _lines(other, snapshot)) is not None}
    if isinstance(cause, Rename):
        found = list(_of_rename(cause, files, snapshot))
    else:
        found = list(_in_files(cause, path, files, snapshot, written))
    return Left(tuple(found[:MOST_PLACES]), len(found), max(0, len(ranked) - MOST_FILES))


def _in_files(
    cause: SignatureChange | Move,
    path: str,
    files: Mapping[str, Sequence[str]],
    snapshot: Snapshot,
    written: Mapping[str, Collection[int]],
) -> Iterator[NextPlace]:
    """The places in some files, of which ``path`` is the first."""
    rivals = {
        other for other, lines in files.items() if other != path and cause.name in names_in(other, lines)
    }
    body: list[NextPlace] = []
    means = _references(cause, files, snapshot) if rivals and isinstance(cause, SignatureChange) else None
    for other, lines in files.items():
        rows = frozenset(written.get(other, ()))
        here = places_in(cause, other, lines, rows)
        if other == path:
            body = list(_own_body(cause, other, lines, rows))
            yield from (each for each in body if not each.gone)
            yield from here
        elif means is None:
            yield from here
        else:
            meant = {piece.row for piece in means.in_file(other)}
            yield from (
                each for each in here if meant & set(range(each.line - 1, each.line - 1 + len(each.old)))
            )
    if means is not None:
        means.close()
    yield from (each for each in body if each.gone)  # they wait for a model


def _references(
    change: SignatureChange, files: Mapping[str, Sequence[str]], snapshot: Snapshot
) -> References | None:
    """What means the function whose signature was changed; None where that cannot be told."""
    path = next(iter(files), "")
    language = language_of(path)
    if language is None or scoping_of(language) is None:
        return None
    line = files[path][change.new.row]
    found = re.search(rf"\b{re.escape(change.name)}\b", line)
    if found is None:
        return None
    column = len(line[: found.start()].encode())
    same = Rename(change.name, change.name, path, change.new.row, column)
    return References(same, snapshot, ClassTable(snapshot, path), tuple(files))


def _ranked(name: str, path: str, snapshot: Snapshot) -> list[str]:
    """The files that may have the name, ``path`` first, then the likeliest."""
    family = family_of(path)
    scores = snapshot.words.score({name.lower(): 1.0})
    ranked = sorted((each for each in scores if each != path), key=lambda each: (-scores[each], each))
    known = set(snapshot.paths)
    return [
        each
        for each in (path, *ranked)
        if family_of(each) == family and not is_secret_file(each) and each in known
    ]


def _lines(path: str, snapshot: Snapshot) -> Sequence[str] | None:
    return getattr(snapshot.read(path), "lines", None)


def places_in(
    cause: Cause, path: str, lines: Sequence[str], written: Collection[int] = ()
) -> Iterator[NextPlace]:
    """The places in one file, whose lines are given; it parses."""
    language = language_of(path)
    if language is not None and isinstance(cause, SignatureChange):
        yield from _of_signature(cause, path, lines, language, written)
    elif language is not None and isinstance(cause, Move):
        yield from _of_move(cause, path, lines, language)


def _of_rename(rename: Rename, files: Mapping[str, Sequence[str]], snapshot: Snapshot) -> Iterator[NextPlace]:
    """The lines with names that mean a renamed definition, its own file's first."""
    language = language_of(rename.path)
    if language is None or scoping_of(language) is None:
        return
    table = ClassTable(snapshot, rename.path, (rename.old, rename.new))
    with closing(References(rename, snapshot, table, tuple(files))) as references:
        for path, lines in files.items():
            rows: dict[int, list[Piece]] = {}
            for piece in references.in_file(path):
                rows.setdefault(piece.row, []).append(piece)
            for row, pieces in sorted(rows.items()):
                yield place_in(rename, path, lines, row, 1, (_with(lines[row], pieces),))


def _with(line: str, pieces: Iterable[Piece]) -> str:
    made = line.encode("utf-8", "replace")
    for piece in sorted(pieces, key=lambda each: -each.start):
        made = made[: piece.start] + piece.text.encode() + made[piece.end :]
    return made.decode("utf-8", "replace")


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


def _own_body(cause: Cause, path: str, lines: Sequence[str], written: Collection[int]) -> Iterator[NextPlace]:
    """The lines of a function's own body that use a parameter by its old name."""
    language = language_of(path)
    if language is None or not isinstance(cause, SignatureChange):
        return
    for each in body_lines(cause, language, lines):
        if each.row not in written:
            new = (_with(lines[each.row], each.pieces),) if not each.gone else None
            yield replace(place_in(cause, path, lines, each.row, 1, new), gone=each.gone)


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


def left_behind(changed: Collection[tuple[str, Lines]], snapshot: Snapshot, moves: Moves) -> Left:
    """What the change of some files, whose lines were as given, left behind."""
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
    return sum((places(cause, path, snapshot, written) for cause, path in found), Left())


def _in_file(path: str, before: Sequence[str], after: Sequence[str]) -> list[Cause]:
    """What a change did in one file."""
    defined = definitions_in(path, "\n".join(before)), definitions_in(path, "\n".join(after))
    renamed: list[Cause] = list(renames(path, before, after, *defined))
    language = language_of(path)
    if language is None:
        return renamed
    old, new = (signatures(language, "\n".join(lines)) for lines in (before, after))
    return [*renamed, *signature_changes(old, new)]
