"""Finds the other names of a file in the project, when it has several hard links.

A file does not know its names, so that the whole project is searched for them. What was found is kept by
folder and used again while the folder's time stamp stays the same: making, deleting and renaming a name
changes it.
"""

from __future__ import annotations

import os
import time
from array import array
from dataclasses import dataclass
from pathlib import Path

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
