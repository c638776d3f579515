"""The project at one moment: an immutable value that any thread may read."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TypeVar

from context.disk.changes import Change
from context.disk.source import LINK, Source, Unread, read
from context.index.commit_history import History
from context.index.entries import Entries
from context.index.postings import Words

REMOVED = "removed by you"
"""The reason why a file that the user removed from the window is not read."""
NOT_APPROVED = "not used: you have not agreed to what it says (spark trust)"
"""Why a file that would instruct the model is not shown unless the request names it."""

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The known state of a project. ``complete`` is false while files are still being indexed."""

    root: Path
    paths: tuple[str, ...] = ()
    """All files that can be named to a model, sorted, unreadable ones included. During the first scan, some
    of them may turn out to be gone."""
    entries: Entries = field(default_factory=Entries)
    words: Words = field(default_factory=Words)
    changes: Mapping[str, Change] = field(default_factory=lambda: MappingProxyType({}))
    branch: frozenset[str] = frozenset()
    """Files that the current branch changed since it left the main branch."""
    unread: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Files and folders that give no text, with the reasons; the names are made printable."""
    history: History = field(default_factory=History)
    """The commits, by which files that change together are found; empty without git."""
    notes: tuple[str, ...] = ()
    """Notes for the user about the scan, such as a missing git."""
    git: bool = False
    above: int = 0
    """Number of folders above ``root`` that belong to its repository."""
    complete: bool = False
    edited: Mapping[str, Source | Unread] = field(default_factory=lambda: MappingProxyType({}))
    """Files that stand for those on disk: what an answer makes of them that is not written."""

    def read(self, path: str) -> Source | Unread:
        """Read the current file from disk, unless the snapshot has a reason not to."""
        if (edited := self.edited.get(path)) is not None:
            return edited
        why = self.unread.get(path)
        return Unread(path, why) if why is not None else read(self.root, path)

    def kept(self, what: str, key: object, work: Callable[[], T]) -> T:
        """The result of ``work``, kept with this snapshot until it is asked for with another ``key``."""
        # All but the words, which are what it is kept with: a reference back would keep both alive.
        rest = tuple(getattr(self, part.name) for part in fields(self) if part.name != "words")
        # The parts are kept too, so that no other object gets the identity of one.
        kept = self.words.kept(what, (key, tuple(map(id, rest))), lambda: (work(), rest))
        return kept[0]

    def without(self, paths: Collection[str], why: str = REMOVED) -> Snapshot:
        """The same snapshot, with ``paths`` known by name alone, and ``why``."""
        return self.kept("without", (frozenset(paths), why), lambda: self._without(paths, why))

    def _without(self, paths: Collection[str], why: str) -> Snapshot:
        places = [at for path in paths if (at := self.entries.place(path)) is not None]
        return replace(
            self,
            entries=self.entries.without(paths),
            words=self.words.without(places),
            unread=frozen({**dict.fromkeys(paths, why), **self.unread}),
        )

    def target(self, path: str) -> str:
        """The target of a link, if that is a readable file of this project; else ``path`` itself."""
        if self.unread.get(path) != LINK:
            return path
        real = os.path.realpath(self.root / path)
        inside = os.path.relpath(real, self.root)
        return inside if inside in self.entries else path


def frozen(values: Mapping[K, V]) -> Mapping[K, V]:
    """A read-only copy."""
    return MappingProxyType(dict(values))


class ReadsProject(Protocol):
    """What looks into a project need: a :class:`Project`, or one with edits that are not written."""

    @property
    def root(self) -> Path:
        """The project's folder."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """The number of files that are known, and the number of all files."""
        ...

    def update(self, paths: Iterable[str]) -> Snapshot:
        """Read these files anew."""
        ...
