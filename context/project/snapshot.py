"""The project as it was at one moment: an immutable value that any thread may read."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from context.disk.changes import Change
from context.disk.source import LINK, Source, Unread, read
from context.index.commit_history import History
from context.index.entries import Entries
from context.index.postings import Words

REMOVED = "removed by you"
"""Why a file that the user took out of the window is not read."""

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known of a project. ``complete`` is false while files are still being indexed."""

    root: Path
    paths: tuple[str, ...] = ()
    """Every file that can be named to a model, in order; unreadable ones too. While the first scan runs,
    files are in it that turn out to be gone."""
    entries: Entries = field(default_factory=Entries)
    words: Words = field(default_factory=Words)
    changes: Mapping[str, Change] = field(default_factory=lambda: MappingProxyType({}))
    branch: frozenset[str] = frozenset()
    """Files that the branch at hand changed since it left the main one."""
    unread: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Files and folders that give nothing, and why; names made printable."""
    history: History = field(default_factory=History)
    """What changed together, where git knows."""
    notes: tuple[str, ...] = ()
    """What the person should know about how the picture came to be, such as a missing git."""
    git: bool = False
    above: int = 0
    """How many folders above ``root`` belong to its repository."""
    complete: bool = False

    def read(self, path: str) -> Source | Unread:
        """The file as it is on disk now, unless this snapshot says that it is not to be read."""
        why = self.unread.get(path)
        return Unread(path, why) if why is not None else read(self.root, path)

    def without(self, paths: Collection[str]) -> Snapshot:
        """The same project with ``paths`` known by their names alone."""
        places = [at for path in paths if (at := self.entries.place(path)) is not None]
        return replace(
            self,
            entries=self.entries.without(paths),
            words=self.words.without(places),
            unread=frozen({**dict.fromkeys(paths, REMOVED), **self.unread}),
        )

    def target(self, path: str) -> str:
        """Where a link leads, if that is a readable file of this project; else ``path`` itself."""
        if self.unread.get(path) != LINK:
            return path
        real = os.path.realpath(self.root / path)
        inside = os.path.relpath(real, self.root)
        return inside if inside in self.entries else path


def frozen(values: Mapping[K, V]) -> Mapping[K, V]:
    """A read-only copy."""
    return MappingProxyType(dict(values))
