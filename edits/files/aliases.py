"""All the names that lead to one file: guards must pass every one of them.

A file in the project can be reached by the path as it was typed, through symbolic links, through other
hard links, and in other capitals where the file system ignores case.

A file does not know its hard links, so that the whole project is searched for them. What was found is kept by
folder and used again while the folder's time stamp stays the same: making, deleting and renaming a name
changes it.
"""

from __future__ import annotations

import os
import time
import unicodedata
from array import array
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from edits.files.path_jail import as_listed, spelling

# A folder that changed this recently may change again without another time stamp (2 s on FAT).
_SETTLED = 2_000_000_000


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder as it was read: its time stamp, its folders, and the inodes of everything else in it."""

    changed: int
    trusted: bool
    folders: tuple[str, ...]
    inodes: array[int]


class HardLinks:
    """The hard links below ``root``. One thread at a time may call it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Folder] = {}
        self._found: dict[tuple[int, int], tuple[str, ...]] = {}

    def names(self, status: os.stat_result) -> tuple[str, ...]:
        """The names of a file, relative to the root; none for a file with only one."""
        if status.st_nlink < 2:
            return ()
        key = (status.st_dev, status.st_ino)
        found = tuple(name for name in self._found.get(key, ()) if self._leads_to(name, status))
        # Links outside the project may be moved into it; if all are known, there is nothing to look for.
        if len(found) < status.st_nlink:
            found = self._search(status)
        self._found[key] = found
        return found

    def _search(self, status: os.stat_result) -> tuple[str, ...]:
        known, names = self._known, list[str]()
        self._known = {}
        waiting = [""]
        while waiting:
            place = waiting.pop()
            folder = self._read(place, known.get(place))
            if folder is None:
                continue
            self._known[place] = folder
            waiting.extend(f"{place}{name}/" for name in folder.folders)
            if status.st_ino in folder.inodes:
                names.extend(self._in_folder(place, status))
        return tuple(names)

    def _read(self, place: str, known: _Folder | None) -> _Folder | None:
        path = f"{self._root}/{place}"
        try:
            changed = os.lstat(path).st_mtime_ns
            if known is not None and known.trusted and known.changed == changed:
                return known
            now = time.time_ns()
            with os.scandir(path) as listing:
                entries = list(listing)
        except OSError:
            return None
        folders = [entry.is_dir(follow_symlinks=False) for entry in entries]
        return _Folder(
            changed=changed,
            trusted=now - changed > _SETTLED,
            folders=tuple(entry.name for entry, is_one in zip(entries, folders, strict=True) if is_one),
            inodes=array(
                "Q", (entry.inode() for entry, is_one in zip(entries, folders, strict=True) if not is_one)
            ),
        )

    def _in_folder(self, place: str, status: os.stat_result) -> list[str]:
        try:
            with os.scandir(f"{self._root}/{place}") as listing:
                names = [place + entry.name for entry in listing]
        except OSError:
            return []
        return [name for name in names if self._leads_to(name, status)]

    def _leads_to(self, name: str, status: os.stat_result) -> bool:
        try:
            return os.path.samestat(os.lstat(f"{self._root}/{name}"), status)
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names of one file, relative to ``root``, which has no links in it; the one to show is first."""

    root: Path
    names: tuple[str, ...]
    ignores_case: bool = False
    """Whether the file system takes names for the same that differ in capitals, or in their Unicode form."""
    status: os.stat_result | None = None
    """What the system says of the file; None if there is none."""

    @property
    def shown(self) -> str:
        """The name for messages."""
        return self.names[0]

    def named(self, name: str) -> str:
        """The file as the subject of a sentence that is about its other name ``name``."""
        return self.shown if name == self.shown else f"{self.shown} is {name}, which"

    def fold(self, name: str) -> str:
        """``name`` as the file system compares it."""
        return spelling(name) if self.ignores_case else name

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


def aliases(root: Path, shown: str, *others: str, links: HardLinks | None = None) -> Aliases:
    """Every name of a file of which ``shown`` and ``others`` are known; the last has its links followed.

    ``links`` are those of the root, kept by callers that ask often.
    """
    real = others[-1] if others else shown
    ignores_case = _ignores_case(root, root / real)
    names = [shown, *others, *([as_listed(root, real)] if ignores_case else ())]
    status = _status(root / real)
    if status is not None:
        names += (links or HardLinks(root)).names(status)
    return Aliases(root, tuple(dict.fromkeys(names)), ignores_case, status)


def _with_parents(name: str) -> tuple[PurePosixPath, ...]:
    path = PurePosixPath(name)
    return path, *path.parents


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _ignores_case(root: Path, path: Path) -> bool:
    """Whether the file system ignores case, as the first existing name with letters tells."""
    for place in (path, *path.parents):
        name = place.name
        forms = (name.swapcase(), unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name))
        others = [place.with_name(form) for form in forms if form != name and name]
        status = _status(place) if others else None
        if status is not None:
            there = map(_status, others)
            return any(other is not None and os.path.samestat(other, status) for other in there)
        if place == root:
            break
    return False
