"""Guards: edits that are held back until the user agrees, however well they are placed.

Nothing here asks anyone: guards that trip give one :class:`~edits.hunk.Held`, and the hunk lands when
it is landed again with all of them allowed. What can be told from a path alone, or from the lines typed
so far, is told while the hunk still streams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from edits.files.text import FileError, decode, split
from edits.guards.manifests import dependencies, is_manifest
from edits.hunk import Guard, Held, RefusalCode
from edits.placing.match import occurrences
from edits.placing.plan import Splice

Checker = Callable[[str, str], str | None]
"""What is wrong with a file's text, in a few words, or None: called with the path and the text."""

_Reason = tuple[Guard, str]
"""A guard that trips, and why."""

_SECRET = re.compile(
    r"\.env(\..*)?|.*\.(pem|key|p12)|id_(rsa|ed25519).*|\.(netrc|npmrc|pypirc)|(credentials|secrets)(\..*)?"
)
_NOT_SECRET = re.compile(r".*\.(example|sample|template|dist|pub|py|rs|js|ts|go)")


@dataclass(frozen=True, slots=True)
class LockedLines:
    """Lines of a file that stay as they are. They are known by their text: edits above move them.

    ``start`` is where they stood when they were locked, from 0; the nearest such text is meant.
    """

    path: str
    start: int
    lines: tuple[str, ...]

    def now(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Where they stand among a file's ``lines``, from 0, end exclusive; None if the user changed them."""
        found = occurrences(lines, self.lines) if self.lines else []
        if not found:
            return None
        start = min(found, key=lambda at: abs(at - self.start))
        return start, start + len(self.lines)


@dataclass(frozen=True, slots=True)
class Locks:
    """What the user locked: ``paths`` are files, folders or patterns (``src/*.py``), relative to the root."""

    paths: tuple[str, ...] = ()
    lines: tuple[LockedLines, ...] = ()

    def path(self, path: str) -> str | None:
        """The lock that holds a whole file, or None."""
        parents = {path, *map(str, PurePosixPath(path).parents)}
        return next(
            (lock for lock in self.paths if lock.rstrip("/") in parents or fnmatchcase(path, lock)), None
        )


def never_ignored(path: str) -> bool:
    """For a project without git: every file with a secret's name is one."""
    del path
    return True


@dataclass(frozen=True, slots=True)
class Protection:
    """The guards of a project, as values and callables of the caller.

    ``most_deleted`` is the number of lines that one hunk may take away on balance; ``ignored`` tells whether
    git ignores a path; ``checker`` whether a text parses.
    """

    locks: Locks = Locks()
    most_deleted: int | None = None
    ignored: Callable[[str], bool] = never_ignored
    checker: Checker | None = None
    dependencies: bool = True
    secrets: bool = True

    def of_path(self, hunk: str, path: str, allow: Collection[Guard] = ()) -> Held | None:
        """What holds an edit of ``path`` whatever it does: a lock, a secret's name."""
        return _held(hunk, path, self._path(path), allow)

    def of_lines(
        self, hunk: str, path: str, lines: Sequence[str], start: int, end: int, allow: Collection[Guard] = ()
    ) -> Held | None:
        """What holds a change of the lines ``start`` to ``end``, from 0, of a file with these ``lines``."""
        return _held(hunk, path, self._lines(path, lines, [(start, end)]), allow)

    def of_deletion(self, hunk: str, path: str, count: int, allow: Collection[Guard] = ()) -> Held | None:
        """What holds an edit that takes ``count`` lines away on balance."""
        return _held(hunk, path, self._deletion(count), allow)

    def of_change(
        self,
        hunk: str,
        paths: Sequence[str],
        before: bytes | None,
        after: bytes | None,
        splices: Sequence[Splice],
        allow: Collection[Guard] = (),
    ) -> Held | None:
        """All the guards that a planned change trips; ``paths`` are its file's, before and after a move."""
        path = paths[0]
        lines = split(_text(before, path))[0] if before is not None and self._reads_lines(after) else ()
        ranges = [(splice.start, splice.start + len(splice.old)) for splice in splices]
        gone = sum(len(splice.old) - len(splice.new) for splice in splices)
        reasons = [
            *(reason for one in paths for reason in self._path(one)),
            *self._lines(path, lines, ranges if after is not None else [(0, len(lines))]),
            *self._deletion(len(lines) if after is None else gone),
            *(self._of_text(paths[-1], before, after, allow) if after is not None else ()),
        ]
        return _held(hunk, path, reasons, allow)

    def _path(self, path: str) -> Iterator[_Reason]:
        if lock := self.locks.path(path):
            yield Guard.LOCKED, f"{path} is locked by the user ({lock})"
        if self.secrets and _is_secret(path) and self.ignored(path):
            yield Guard.SECRET, f"{path} may hold secrets, and git ignores it"

    def _lines(self, path: str, lines: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[_Reason]:
        for lock in self.locks.lines:
            place = lock.now(lines) if lock.path == path else None
            if place is not None and any(_meets(start, end, place) for start, end in ranges):
                yield Guard.LOCKED, f"lines {place[0] + 1}-{place[1]} of {path} are locked by the user"

    def _deletion(self, count: int) -> Iterator[_Reason]:
        if self.most_deleted is not None and count > self.most_deleted:
            yield Guard.DELETES, f"it deletes {count} lines, more than {self.most_deleted}"

    def _reads_lines(self, after: bytes | None) -> bool:
        return bool(self.locks.lines) or (after is None and self.most_deleted is not None)

    def _of_text(
        self, path: str, before: bytes | None, after: bytes, allow: Collection[Guard]
    ) -> Iterator[_Reason]:
        if self.dependencies and before is not None and Guard.DEPENDENCY not in allow and is_manifest(path):
            added = sorted(dependencies(path, _text(after, path)) - dependencies(path, _text(before, path)))
            if added:
                names = ", ".join(added[:5]) + (" and more" if len(added) > 5 else "")
                yield Guard.DEPENDENCY, f"it adds a dependency: {names}"
        if self.checker is not None and Guard.SYNTAX not in allow:
            wrong = self.checker(path, _text(after, path))
            # What did not parse before may be on its way to parsing.
            if wrong and (before is None or not self.checker(path, _text(before, path))):
                yield Guard.SYNTAX, f"{path} would no longer parse: {wrong}"


def _held(hunk: str, path: str, reasons: Iterable[_Reason], allow: Collection[Guard]) -> Held | None:
    """A hunk held for all ``reasons`` but those that are allowed; None where none is left."""
    left = [(guard, why) for guard, why in reasons if guard not in allow]
    if not left:
        return None
    guards = tuple(dict.fromkeys(guard for guard, _ in left))
    return Held(hunk, path, RefusalCode.LOCKED, "; ".join(dict.fromkeys(why for _, why in left)), guards)


def _is_secret(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    return _SECRET.fullmatch(name) is not None and _NOT_SECRET.fullmatch(name) is None


def _meets(start: int, end: int, locked: tuple[int, int]) -> bool:
    first, last = locked
    return first < start < last if start == end else start < last and first < end


def _text(data: bytes, path: str) -> str:
    """The text of a file; of a binary one, which can only be deleted, there is none."""
    try:
        return decode(data, path).text
    except FileError:
        return ""
