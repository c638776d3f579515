"""Finds what a change did that other places have to follow. It parses: call it in a worker thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from context.code.calls import signatures
from context.code.languages import language_of
from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from edits.files.diff import changes
from session.assist.next_edit.move import Moves
from session.assist.next_edit.place import Cause, NextPlace
from session.assist.next_edit.places import names_in, places
from session.assist.next_edit.rename import renames
from session.assist.next_edit.signature import signature_changes
from session.project.definitions import definitions_in

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
