"""The places that a change left behind: old names, calls that fit no more, imports from where nothing is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from context.code.calls import Call, calls
from context.code.imports import Import, imports
from context.code.languages import Language, language_of
from context.code.parsed import nodes, text_of
from context.project.snapshot import Snapshot
from context.text.secrets import is_secret_file
from session.assist.next_edit.move import Move, followed, importing, module_of
from session.assist.next_edit.place import Cause, NextPlace, place_in
from session.assist.next_edit.rename import Rename
from session.assist.next_edit.signature import CallEdit, SignatureChange, edit_of
from session.project.definitions import definitions_in

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
