"""What the user locked in a project: files, folders, patterns and lines that no edit may touch.

Kept in the project's state folder as JSON, so that every command that lands edits knows the locks.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from edits.files.path_jail import resolve
from edits.files.read_write import read_text
from edits.files.text import FileError
from edits.guards.guards import LockedLines, Locks
from session.storage.folders import private_folder
from session.storage.line_files import StoreError

_RANGE = re.compile(r"(?P<path>.+):(?P<start>[0-9]+)(?:-(?P<end>[0-9]+))?")


class LockError(StoreError):
    """A lock cannot be set, read or kept; the message says why."""


class LockStore:
    """The locks of the project at ``root``, in ``folder``."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._file = folder / "locks.json"

    def read(self) -> Locks:
        """The locks as they are kept. Raises LockError for a file that is no such thing."""
        try:
            record = json.loads(self._file.read_text("utf-8"))
            return Locks(
                paths=tuple(str(path) for path in record["paths"]),
                lines=tuple(_locked_lines(entry) for entry in record["lines"]),
            )
        except FileNotFoundError:
            return Locks()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise LockError(
                f"the locks in {self._file} cannot be read ({problem}); mend or remove that file"
            ) from problem

    def add(self, target: str) -> str:
        """Lock ``target``: a path, a folder, a pattern, or lines as ``path:10-20``. Says what is locked."""
        locks = self.read()
        found = _RANGE.fullmatch(target)
        if found is None:
            self._write(Locks((*(path for path in locks.paths if path != target), target), locks.lines))
            return f"{target} is locked"
        start = int(found["start"])
        end = int(found["end"] or start)
        held = self._lines(found["path"], start, end)
        self._write(Locks(locks.paths, (*locks.lines, held)))
        return f"lines {start}-{end} of {held.path} are locked"

    def remove(self, target: str) -> str:
        """Take the locks on ``target`` away: a path as it was locked, lines by their file, or ``all``."""
        locks = self.read()
        path = match["path"] if (match := _RANGE.fullmatch(target)) else target
        kept = Locks(
            paths=tuple(lock for lock in locks.paths if target not in ("all", lock)),
            lines=tuple(lock for lock in locks.lines if target != "all" and lock.path != path),
        )
        if kept == locks:
            raise LockError(f"{target} is not locked")
        self._write(kept)
        return f"{target} is no longer locked"

    def shown(self) -> tuple[str, ...]:
        """Each lock in a few words."""
        locks = self.read()
        ranges = (f"{lock.path}:{lock.start + 1}-{lock.start + len(lock.lines)}" for lock in locks.lines)
        return (*locks.paths, *ranges)

    def _lines(self, path: str, start: int, end: int) -> LockedLines:
        try:
            place = resolve(self._root, path)
            lines = read_text(place.real, path).lines
        except FileError as problem:
            raise LockError(problem.message) from problem
        if not 1 <= start <= end <= len(lines):
            raise LockError(f"{path} has {len(lines)} lines; there are no lines {start}-{end}")
        return LockedLines(place.path, start - 1, lines[start - 1 : end])

    def _write(self, locks: Locks) -> None:
        record = {
            "paths": list(locks.paths),
            "lines": [
                {"path": lock.path, "start": lock.start, "lines": list(lock.lines)} for lock in locks.lines
            ],
        }
        partial = self._file.with_name(f"locks-{os.getpid()}.tmp")
        try:
            private_folder(self._file.parent)
            partial.write_text(json.dumps(record, indent=1), "utf-8")
            partial.chmod(0o600)
            partial.replace(self._file)
        except OSError as problem:
            raise LockError(f"the locks cannot be kept in {self._file}: {problem.strerror}") from problem


def _locked_lines(entry: Any) -> LockedLines:
    return LockedLines(
        path=str(entry["path"]), start=int(entry["start"]), lines=tuple(str(line) for line in entry["lines"])
    )
