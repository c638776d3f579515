"""The projects that a worker has unpacked, ready for sandboxes on top of them.

A new state of a project shares the files that did not change with the states before it, as hard links.
Sandboxes write to layers of their own and never to these folders.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from session.checks.sandbox.box import remove_tree
from session.race.cluster.content import Entry, files_of, unpacked

MOST_BASES = 4
"""The states that are kept; those in use are kept beyond it."""


@dataclass(slots=True)
class Base:
    """One state of a project below ``folder``; ``users`` counts the checks that run on it."""

    folder: Path
    root: Path
    files: Mapping[str, Entry]
    users: int = 0


@dataclass(slots=True)
class Bases:
    """The states of projects that are unpacked below ``folder``. Calls block, and come one at a time."""

    folder: Path
    kept: dict[str, Base] = field(default_factory=dict)

    def unpack(self, key: str, manifest: bytes, packs: Iterable[bytes]) -> Base:
        """The state ``key``, unpacked once. Raises OSError and ValueError; nothing is left of it then."""
        known = self.kept.pop(key, None)
        if known is None:
            known = self._unpack(self.folder / key[:16], manifest, packs)
        self.kept[key] = known  # at the end: the newest
        self._forget()
        return known

    def _unpack(self, folder: Path, manifest: bytes, packs: Iterable[bytes]) -> Base:
        name, files = files_of(manifest)
        root = folder / _plain_name(name)
        for path in files:
            _check(path)
        try:
            root.mkdir(parents=True)
            for parent in sorted({str(PurePosixPath(path).parent) for path in files}):
                (root / parent).mkdir(parents=True, exist_ok=True)
            wanted = {path: entry for path, entry in files.items() if not self._link(root, path, entry)}
            places: dict[str, list[str]] = {}
            for path, (_, digest, _) in wanted.items():
                places.setdefault(digest, []).append(path)
            for digest, content in unpacked_all(packs) if wanted else ():
                for path in places.pop(digest, ()):
                    (root / path).write_bytes(content)
                    (root / path).chmod(wanted[path][2])
            if places:
                raise ValueError(f"{len(places)} files of the project did not come with it")
        except BaseException:  # a cancelled unpacking, too, leaves no folder behind
            with contextlib.suppress(OSError):
                remove_tree(folder)
            raise
        return Base(folder, root, files)

    def _link(self, root: Path, path: str, entry: Entry) -> bool:
        """Make a link, or share the file with a state that has it. False where its bytes must be unpacked."""
        if entry[0] == "link":
            (root / path).symlink_to(entry[1])
            return True
        for base in reversed(self.kept.values()):
            if base.files.get(path) == entry:
                with contextlib.suppress(OSError):
                    os.link(base.root / path, root / path, follow_symlinks=False)
                    return True
        return False

    def _forget(self) -> None:
        """Remove the oldest states that no check uses; the newest is about to be used."""
        spare = [key for key in list(self.kept)[:-1] if not self.kept[key].users]
        for key in spare[: max(0, len(self.kept) - MOST_BASES)]:
            remove_tree(self.kept.pop(key).folder)


def unpacked_all(packs: Iterable[bytes]) -> Iterable[tuple[str, bytes]]:
    """The contents of all ``packs``."""
    for each in packs:
        yield from unpacked(each)


def _check(path: str) -> None:
    """Raises ValueError for a path that leads out of the project."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or "\0" in path:
        raise ValueError(f"{path!r} is not a path in a project")


def _plain_name(name: str) -> str:
    return name if name and "/" not in name and name not in (".", "..") else "project"
