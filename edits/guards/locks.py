"""What the user has locked: files, folders, patterns, and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from edits.files.aliases import Aliases
from edits.placing.blank_lines import occurrences


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
