"""All the names that lead to one file: guards must pass every one of them.

A file in the project can be reached by the path as it was typed, through symbolic links, through other
hard links, and in other capitals where the file system ignores case.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names of one file, relative to ``root``, which has no links in it; the one to show is first."""

    root: Path
    names: tuple[str, ...]
    ignores_case: bool = False
    """Whether the file system takes names that differ in capitals for the same."""

    @property
    def shown(self) -> str:
        """The name for messages."""
        return self.names[0]

    def fold(self, name: str) -> str:
        """``name`` as the file system compares it."""
        return name.casefold() if self.ignores_case else name

    def is_called(self, name: str) -> bool:
        """Whether ``name`` (relative to the root) leads to this file."""
        known = {self.fold(one) for one in self.names}
        return not known.isdisjoint(self._places(name))

    def is_within(self, folder: str) -> bool:
        """Whether ``folder`` is this file, or a folder that one of its names is in."""
        known = {self.fold(str(parent)) for one in self.names for parent in _with_parents(one)}
        return not known.isdisjoint(self._places(folder))

    def _places(self, name: str) -> set[str]:
        """A name as it is, and with the symbolic links in it followed."""
        plain = os.path.normpath(name)
        real = os.path.relpath(os.path.realpath(self.root / plain), self.root)
        return {self.fold(plain), self.fold(real)}


def aliases(root: Path, shown: str, *others: str) -> Aliases:
    """Every name of a file of which ``shown`` and ``others`` are known; the last has its links followed."""
    real = root / (others[-1] if others else shown)
    names = dict.fromkeys((shown, *others, *_hard_links(root, real)))
    return Aliases(root, tuple(names), _ignores_case(root, real))


def _with_parents(name: str) -> tuple[PurePosixPath, ...]:
    path = PurePosixPath(name)
    return path, *path.parents


def _hard_links(root: Path, file: Path) -> Iterator[str]:
    """The names in the project of a file that has several; the whole project is searched for them."""
    try:
        status = file.stat()
    except OSError:
        return
    if status.st_nlink < 2:
        return
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = list(listing)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    waiting.append(entry.path)
            elif entry.inode() == status.st_ino and os.path.samestat(os.lstat(entry.path), status):
                yield os.path.relpath(entry.path, root)


def _ignores_case(root: Path, path: Path) -> bool:
    """Whether the file system ignores case, as the first existing name with letters tells."""
    for place in (path, *path.parents):
        other = place.with_name(place.name.swapcase()) if place.name else place
        if other != place and place.exists():
            return other.exists() and other.samefile(place)
        if place == root:
            break
    return False
