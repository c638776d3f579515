"""The files that a choice of hunks changed: their content before the first of them, and after all of them.

Only what the chosen hunks did is in it. What the user or other hunks wrote in between is merged out; where
that cannot be done, the file is marked inexact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from edits.files.merge import merge3
from edits.files.text import FileError
from edits.ledger.entry import Entry, Op

Contents = Callable[[str], bytes]
"""Gives the content with a digest. Raises FileError where it is lost."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file before and after: its path, and its bytes, None where there was or is no file."""

    old_path: str
    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    """The permission bits of a file that was deleted."""
    inexact: bool = False
    """Whether changes by others are in it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed files in the order of their paths, and the paths whose contents the ledger has lost."""

    files: tuple[ChangedFile, ...]
    lost: tuple[str, ...] = ()


def changed_files(entries: Sequence[Entry], chosen: Collection[str], contents: Contents) -> Changes:
    """What the hunks ``chosen`` changed, those that are undone now left out. ``entries`` are all changes in
    the ledger, the oldest first."""
    last = {entry.hunk: entry for entry in entries if entry.hunk in chosen}
    made = {entry.seq for entry in last.values() if entry.op is not Op.UNDO}
    files: dict[str, ChangedFile] = {}
    lost: set[str] = set()
    for entry in entries:
        if entry.hunk not in chosen or (entry.op is not Op.LAND and entry.seq not in made):
            continue
        try:
            before = _content(entry.before, contents)
            file = files.get(entry.path) or ChangedFile(entry.path, entry.path, before, before)
            if entry.seq in made:
                after = _content(entry.after, contents)
                file = _changed(file, before, after, entry)
        except FileError:
            lost.add(entry.path)
            continue
        files.pop(entry.path, None)
        files[file.path] = file
    changed = [file for file in files.values() if file.path not in lost and _differs(file)]
    return Changes(tuple(sorted(changed, key=lambda file: file.path)), tuple(sorted(lost)))


def _differs(file: ChangedFile) -> bool:
    return file.before != file.after or (file.old_path != file.path and file.after is not None)


def _content(digest: str | None, contents: Contents) -> bytes | None:
    return None if digest is None else contents(digest)


def _changed(file: ChangedFile, before: bytes | None, after: bytes | None, entry: Entry) -> ChangedFile:
    """``file`` with one more change made, which turned ``before`` into ``after`` at its time."""
    path = entry.place if after is not None else file.path
    mode = entry.mode if entry.mode is not None else file.mode
    if file.after == before or file.after is None or before is None or after is None:
        return replace(file, path=path, after=after, mode=mode)
    # Every byte is a character of Latin-1, so any content can be merged by lines.
    merged = merge3(*(each.decode("latin-1") for each in (before, file.after, after)))
    if merged.conflicts:
        return replace(file, path=path, after=after, mode=mode, inexact=True)
    return replace(file, path=path, after=merged.text.encode("latin-1"), mode=mode)
