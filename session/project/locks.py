"""The user's locks in a project: files, folders, patterns and lines that no edit may change.

They are stored as JSON in the project's state folder, where every command that lands edits reads them. Paths
are relative to the project. Every method reads or writes the disk.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from edits.files.aliases import Aliases, aliases
from edits.files.path_jail import Target, resolve
from edits.files.text import FileError
from edits.files.tree import Tree
from edits.guards.protection import LockedLines, Locks
from session.base.storage.private_files import StoreError, changed_alone, replace_private

_RANGE = re.compile(r"(?P<path>.+):(?P<start>[0-9]+)(?:-(?P<end>[0-9]+))?")
_PATTERN = re.compile(r"[*?\[]")
_ALL = "all"


class LockError(StoreError):
    """A lock cannot be set, removed, read or stored; the message says why."""


class LockStore:
    """The locks of the project at ``root`` (a path without links), stored in ``folder``.

    ``files`` lists the project's files as they are known, relative to ``root``: a pattern is compared to
    these, so that nobody waits for a walk through a large project.
    """

    def __init__(self, root: Path, folder: Path, files: Callable[[], Iterable[str]]) -> None:
        self._root, self._files = root, files
        self._file = folder / "locks.json"

    def read(self) -> Locks:
        """All locks. Raises LockError if their file cannot be read."""
        try:
            record = json.loads(self._file.read_text("utf-8"))
            return Locks(
                paths=tuple(self._kept(str(path)) for path in record["paths"]),
                lines=tuple(_locked_lines(entry) for entry in record["lines"]),
            )
        except FileNotFoundError:
            return Locks()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise LockError(
                f"the locks in {self._file} cannot be read ({problem}); repair or remove that file"
            ) from problem

    def add(self, target: str) -> str:
        """Lock ``target``: a file, a folder, a pattern, or lines as ``path:10-20``.

        Returns a line for the user. Raises LockError for a target that cannot be locked.
        """
        with self._alone():
            locks = self.read()
            lines = self._range(target)
            if lines is not None:
                path, start, end = lines
                held = self._lines(path, start, end)
                self._write(replace(locks, lines=(*locks.lines, held)))
                return f"lines {start}-{end} of {held.path} are locked"
            path = self._relative(target)
            self._write(replace(locks, paths=(*(lock for lock in locks.paths if lock != path), path)))
            return f"{self._described(path)} is locked{self._missing(path)}"

    def remove(self, target: str) -> str:
        """Remove the locks on ``target``: a path or pattern as it was locked, with the locked lines of that
        file; lines; or ``all``.

        Returns a line for the user. Raises LockError if ``target`` is not locked.
        """
        with self._alone():
            locks = self.read()
            lines = None if target == _ALL else self._range(target)
            if target == _ALL:
                kept, told = Locks(), "all files and lines are no longer locked"
            elif lines is not None:
                kept, told = self._without_lines(locks, *lines)
            else:
                path = self._kept(target)
                file = self._aliases(path)
                kept = Locks(
                    paths=tuple(lock for lock in locks.paths if lock != path),
                    lines=tuple(lock for lock in locks.lines if not file.is_called(lock.path)),
                )
                told = f"{path} is no longer locked"
            if kept == locks:
                raise LockError("nothing is locked" if target == _ALL else f"{target} is not locked")
            self._write(kept)
            return told

    def shown(self) -> tuple[str, ...]:
        """Each lock in the form that :meth:`remove` takes; lines are those of the file as it is now."""
        locks = self.read()
        placed = (self._placed(lock) for lock in locks.lines)
        ranges = (f"{lock.path}:{lock.start + 1}-{lock.start + len(lock.lines)}" for lock in placed)
        return (*locks.paths, *ranges)

    def _without_lines(self, locks: Locks, path: str, start: int, end: int) -> tuple[Locks, str]:
        """The locks without those on lines ``start`` to ``end``; the rest of a range stays locked."""
        file = self._aliases(self._relative(path))
        kept: list[LockedLines] = []
        for lock in locks.lines:
            placed = self._placed(lock)
            first, last = placed.start, placed.start + len(placed.lines)
            low, high = max(start - 1, first), min(end, last)
            if low >= high or not file.is_called(lock.path):
                kept.append(lock)
                continue
            if first < low:
                kept.append(LockedLines(placed.path, first, placed.lines[: low - first]))
            if high < last:
                kept.append(LockedLines(placed.path, high, placed.lines[high - first :]))
        lines = f"lines {start}-{end} of {file.shown}"
        if tuple(kept) == locks.lines:
            whole = locks.of_file(file)
            hint = f": the lock on {whole[0]} holds all of it" if whole else ""
            raise LockError(f"{lines} are not locked by themselves{hint}")
        return replace(locks, lines=tuple(kept)), f"{lines} are no longer locked"

    def _range(self, target: str) -> tuple[str, int, int] | None:
        """The path and lines (from 1, ``end`` included) that ``target`` names; None for a path alone."""
        found = _RANGE.fullmatch(target)
        if found is None or self._exists(target):
            return None
        start = int(found["start"])
        return found["path"], start, int(found["end"] or start)

    def _lines(self, path: str, start: int, end: int) -> LockedLines:
        place = self._resolve(path)
        try:
            lines = Tree(self._root).read_text(place.name, place.path).lines
        except FileError as problem:
            raise LockError(problem.message) from problem
        if not 1 <= start <= end <= len(lines):
            raise LockError(f"{place.path} has {len(lines)} lines; there are no lines {start}-{end}")
        return LockedLines(place.path, start - 1, lines[start - 1 : end])

    def _resolve(self, path: str) -> Target:
        try:
            return resolve(self._root, path)
        except FileError as problem:
            raise LockError(problem.message) from problem

    def _placed(self, lock: LockedLines) -> LockedLines:
        """The lock at the place where its lines are now; unchanged if the file has no such lines."""
        try:
            found = lock.now(Tree(self._root).read_text(resolve(self._root, lock.path).name).lines)
        except (FileError, OSError):
            found = None
        return lock if found is None else replace(lock, start=found[0])

    def _relative(self, target: str) -> str:
        """A path or pattern relative to the project. Raises LockError for one outside it."""
        if not target.strip() or not target.isprintable():
            raise LockError(f"{target!r} is not a file name; give a path, a pattern, or a path with lines")
        whole = Path(os.path.normpath(self._root / target))
        fixed = next((at for at, part in enumerate(whole.parts) if _PATTERN.search(part)), len(whole.parts))
        if self._exists(target):
            fixed = len(whole.parts)
        real = Path(os.path.realpath(Path(*whole.parts[:fixed])), *whole.parts[fixed:])
        if not real.is_relative_to(self._root):
            raise LockError(f"{target} is outside the project, where no edit lands; nothing was locked")
        return (whole if whole.is_relative_to(self._root) else real).relative_to(self._root).as_posix()

    def _kept(self, path: str) -> str:
        """A stored lock in the form of :meth:`_relative`, or unchanged if that refuses it."""
        try:
            return self._relative(path)
        except LockError:
            return path

    def _aliases(self, path: str) -> Aliases:
        real = os.path.relpath(os.path.realpath(self._root / path), self._root)
        return aliases(self._root, path, real)

    def _described(self, path: str) -> str:
        return "the whole project" if path == "." else path

    def _missing(self, path: str) -> str:
        """A remark where ``path`` names no file or folder yet, else an empty text."""
        if self._exists(path):
            return ""
        if not _PATTERN.search(path):
            return " (no such file yet)"
        found = any(fnmatchcase(file, path) for file in self._files())
        return "" if found else " (matches no listed file yet)"

    def _exists(self, path: str) -> bool:
        try:
            return (self._root / path).exists()
        except OSError:  # such as a name that is too long
            return False

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with changed_alone(self._file.parent):
                yield
        except OSError as problem:
            raise LockError(
                f"the locks cannot be stored in {self._file}: {problem.strerror}; they are as they were"
            ) from problem

    def _write(self, locks: Locks) -> None:
        lines = [{"path": lock.path, "start": lock.start, "lines": list(lock.lines)} for lock in locks.lines]
        record = {"paths": list(locks.paths), "lines": lines}
        replace_private(self._file, json.dumps(record, indent=1).encode("utf-8"))


def _locked_lines(entry: Any) -> LockedLines:
    return LockedLines(
        path=str(entry["path"]), start=int(entry["start"]), lines=tuple(str(line) for line in entry["lines"])
    )
