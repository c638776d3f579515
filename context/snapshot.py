"""The project as it was at one moment: an immutable value that any thread may read."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from context.changes import Change
from context.history import History
from context.index import Facts
from context.postings import Postings
from context.source import LINK, Source, Unread, read

REMOVED = "removed by you"
"""Why a file that the user took out of the window is not read."""

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that gives text: its content's hash, its place in the postings, what is known of it."""

    digest: str
    stamp: str
    number: int
    facts: Facts
    block: str
    """The file in the project map: its path and its outline."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known of a project. ``complete`` is false while files are still being indexed."""

    root: Path
    paths: tuple[str, ...] = ()
    """Every file that can be named to a model, in order; unreadable ones too. While the first scan runs,
    files are in it that turn out to be gone."""
    entries: Mapping[str, FileEntry] = field(default_factory=lambda: MappingProxyType({}))
    changes: Mapping[str, Change] = field(default_factory=lambda: MappingProxyType({}))
    unread: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Files and folders that give nothing, and why; names made printable."""
    live: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    postings: Postings = field(default_factory=Postings)
    history: History = field(default_factory=History)
    """What changed together, where git knows."""
    notes: tuple[str, ...] = ()
    """What the person should know about how the picture came to be, such as a missing git."""
    git: bool = False
    complete: bool = False

    def read(self, path: str) -> Source | Unread:
        """The file as it is on disk now, unless this snapshot says that it is not to be read."""
        why = self.unread.get(path)
        return Unread(path, why) if why is not None else read(self.root, path)

    def without(self, paths: Collection[str]) -> Snapshot:
        """The same project with ``paths`` known by their names alone."""
        return replace(
            self,
            entries=frozen({path: entry for path, entry in self.entries.items() if path not in paths}),
            live=frozen({number: path for number, path in self.live.items() if path not in paths}),
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
