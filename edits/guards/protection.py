"""Guards: edits that are held back until the user agrees, however well they are placed.

Nothing here asks the user. Guards that object give one :class:`~edits.hunk.Held`, and the hunk lands when
it is landed again with all of them allowed. A file is judged by all its names, so that no link gets
around a guard. The user locks files, folders, patterns and lines.

Some files run by themselves: something runs or follows them that the user did not start for that. Held edits
of them are asked about with a reason that says who runs the file. The names are in ``risky_files.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from edits.files.aliases import Aliases
from edits.files.text import FileError, decode, split
from edits.guards.manifests import dependency_change
from edits.guards.risky_files import changed_part, home_files, runs_by_itself
from edits.hunk import Guard, Held, RefusalCode
from edits.placing.blank_lines import occurrences
from edits.placing.splices import Splice


@dataclass(frozen=True, slots=True)
class LockedLines:
    """Locked lines of a file. They are recognized by their text, since edits above move them.

    ``start`` is where they were when they were locked, from 0; the nearest occurrence of the text counts.
    """

    path: str
    start: int
    lines: tuple[str, ...]

    def now(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Where they are among a file's ``lines``, from 0, end exclusive; None if the user changed them."""
        found = occurrences(lines, self.lines) if self.lines else []
        if not found:
            return None
        start = min(found, key=lambda at: abs(at - self.start))
        return start, start + len(self.lines)


@dataclass(frozen=True, slots=True)
class Locks:
    """All locks of a project.

    ``paths`` are files, folders or patterns (``src/*.py``), relative to the root.
    """

    paths: tuple[str, ...] = ()
    lines: tuple[LockedLines, ...] = ()

    def of_file(self, file: Aliases) -> tuple[str, str] | None:
        """The first lock on a whole file and the name of the file that it is on, or None."""
        for lock in self.paths:
            for name in file.names:
                if fnmatchcase(file.fold(name), file.fold(lock)):
                    return lock, name
            if file.is_within(lock):
                return lock, next((name for name in file.names if _starts(name, lock)), file.shown)
        return None

    def of_lines(self, file: Aliases) -> tuple[LockedLines, ...]:
        """The locked lines of a file, whichever of its names they were locked by."""
        return tuple(lock for lock in self.lines if file.is_called(lock.path))


def _starts(name: str, lock: str) -> bool:
    return f"{name}/".startswith(f"{lock.rstrip('/')}/")


def by_name(file: Aliases, home: Path | None = None) -> str | None:
    """Why a file runs by itself whatever is in it, by any of its names; None if it does not."""
    for name in file.names:
        what = runs_by_itself(name)
        if what is not None:
            return f"{file.named(name)} runs by itself: {what}"
    if home is None or file.status is None:
        return None
    for name, what in home_files(held=True):
        if _is_same(f"{home}/{name}", file.status):
            return f"{file.shown} runs by itself: it is ~/{name}, {what}"
    return None


def by_content(
    files: Sequence[Aliases], before: bytes | None, after: bytes | None, old: str | None, new: str
) -> str | None:
    """Why a change makes something run by itself; ``files`` is its file, before and after a move.

    ``old`` and ``new`` are the texts of ``before`` and ``after``. A deletion makes nothing run.
    """
    if after is None:
        return None
    status = files[0].status
    if (
        status is not None
        and status.st_mode & 0o111
        and any(data is not None and data.startswith(b"#!") for data in (before, after))
    ):
        # Some file systems give every file these permissions, so the first line counts too.
        return f"{files[0].shown} runs by itself: it is an executable script"
    for name in files[-1].names:
        what = changed_part(name, old if len(files) == 1 else None, new)
        if what is not None:
            return f"{files[-1].named(name)} runs by itself: {what}"
    return None


def _is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116 - many paths are looked at for each edit
    except OSError:
        return False


_Reason = tuple[Guard, str]
"""A guard that objects, and why."""


def no_secret(path: str) -> bool:
    """Takes no file for one that holds secrets."""
    del path
    return False


@dataclass(frozen=True, slots=True)
class Protection:
    """The guards of a project.

    ``most_deleted`` is the number of lines by which one hunk may make a file shorter. ``secret`` tells
    whether a path is that of a file with secrets. ``overwrites`` says that a new file over an existing one
    is held; otherwise it is refused. ``dependencies`` holds new packages, and it or ``sources`` any change of
    where code comes from (:mod:`edits.guards.manifests`). ``runs`` holds files that run by
    themselves; ``home`` is the user's home folder, whose start-up files may be links to the project.
    """

    locks: Locks = field(default_factory=Locks)
    most_deleted: int | None = None
    secret: Callable[[str], bool] = no_secret
    dependencies: bool = True
    sources: bool = True
    overwrites: bool = False
    runs: bool = False
    home: Path | None = None

    def of_path(self, hunk: str, file: Aliases) -> Held | None:
        """What holds an edit of ``file`` whatever it does: a lock, or secrets in it."""
        return _held(hunk, file.shown, self._path(file), ())

    def of_change(
        self,
        hunk: str,
        files: Sequence[Aliases],
        before: bytes | None,
        after: bytes | None,
        splices: Sequence[Splice],
        allow: Collection[Guard] = (),
        *,
        overwrites: bool = False,
        loses: str = "",
    ) -> Held | None:
        """What holds a planned change, by all guards; ``files`` is its file, before and after a move.

        ``overwrites`` says that the hunk adds a file where there is one already, and ``loses`` what a whole
        file loses that nobody asked to lose.
        """
        file, path = files[0], files[0].shown
        lines = split(_text(before, path))[0] if before is not None and self._reads_lines(after) else ()
        ranges = [(splice.start, splice.start + len(splice.old)) for splice in splices]
        if after is None or len(files) > 1:
            # A file that is deleted or moved takes its locked lines with it.
            ranges = [(0, len(lines))]
        gone = sum(len(splice.old) - len(splice.new) for splice in splices)
        reasons = [
            *(reason for one in files for reason in self._path(one)),
            *self._lines(file, lines, ranges),
            *(self._parts_that_run(files, before, after) if self.runs else ()),
            *self._overwritten(path, overwrites),
            *self._deletion(len(lines) if after is None else gone),
            *([(Guard.DELETES, loses)] if loses else ()),
            *(self._of_text(files, before, after, allow) if after is not None else ()),
        ]
        return _held(hunk, path, reasons, allow)

    def _path(self, file: Aliases) -> Iterator[_Reason]:
        lock = self.locks.of_file(file)
        if lock is not None:
            yield Guard.LOCKED, f"{file.named(lock[1])} is locked by the user ({lock[0]})"
        name = next((name for name in file.names if self.secret(name)), None)
        if name is not None:
            yield Guard.SECRET, f"{file.named(name)} may hold secrets, and is not in git"
        running = by_name(file, self.home) if self.runs else None
        if running is not None:
            yield Guard.RUNS, running

    def _parts_that_run(
        self, files: Sequence[Aliases], before: bytes | None, after: bytes | None
    ) -> Iterator[_Reason]:
        shown = files[-1].shown
        running = by_content(
            files, before, after, None if before is None else _text(before, shown), _text(after or b"", shown)
        )
        if running is not None:
            yield Guard.RUNS, running

    def _lines(
        self, file: Aliases, lines: Sequence[str], ranges: Sequence[tuple[int, int]]
    ) -> Iterator[_Reason]:
        for lock in self.locks.of_lines(file):
            place = lock.now(lines)
            if place is not None and any(_meets(start, end, place) for start, end in ranges):
                yield Guard.LOCKED, f"lines {place[0] + 1}-{place[1]} of {file.shown} are locked by the user"

    def _overwritten(self, path: str, overwrites: bool) -> Iterator[_Reason]:
        if overwrites:
            yield Guard.OVERWRITES, f"{path} exists already: the whole file is replaced"

    def _deletion(self, count: int) -> Iterator[_Reason]:
        if self.most_deleted is not None and count > self.most_deleted:
            yield Guard.DELETES, f"it deletes {count} lines, more than {self.most_deleted}"

    def _reads_lines(self, after: bytes | None) -> bool:
        return bool(self.locks.lines) or (after is None and self.most_deleted is not None)

    def _of_text(
        self, files: Sequence[Aliases], before: bytes | None, after: bytes, allow: Collection[Guard]
    ) -> Iterator[_Reason]:
        if not (self.dependencies or self.sources) or Guard.DEPENDENCY in allow:
            return
        moved = files[0].shown if len(files) > 1 else None
        old = None if before is None else _text(before, files[0].shown)
        new = _text(after, files[-1].shown)
        packages = self.dependencies
        why = dependency_change(files[-1].names, old, new, moved=moved, packages=packages)
        if why is not None:
            yield Guard.DEPENDENCY, why


def _held(hunk: str, path: str, reasons: Iterable[_Reason], allow: Collection[Guard]) -> Held | None:
    """A hunk held for all ``reasons`` that are not allowed; None if none is left."""
    left = [(guard, why) for guard, why in reasons if guard not in allow]
    if not left:
        return None
    guards = tuple(dict.fromkeys(guard for guard, _ in left))
    return Held(hunk, path, RefusalCode.LOCKED, "; ".join(dict.fromkeys(why for _, why in left)), guards)


def _meets(start: int, end: int, locked: tuple[int, int]) -> bool:
    first, last = locked
    return first < start < last if start == end else start < last and first < end


def _text(data: bytes, path: str) -> str:
    """The text of a file; empty for a binary one, which can only be deleted."""
    try:
        return decode(data, path).text
    except FileError:
        return ""
