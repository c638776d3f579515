"""Indexes the paths of a project for look-ups; cached for the lists of paths used last."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from context.text.globs import glob

_MOST_PATTERNS = 64
"""Number of patterns whose matches are cached."""
_LITERAL = re.compile(r"([^*?\[]+)/")
"""Matches the folders at the beginning of a pattern that are written out."""


class ProjectPaths:
    """The sorted paths of a project."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.all = paths

    def __contains__(self, path: str) -> bool:
        at = bisect_left(self.all, path)
        return at < len(self.all) and self.all[at] == path

    def changed(self, new: Iterable[str], gone: Iterable[str]) -> tuple[str, ...]:
        """The paths with ``new`` ones and without those that are ``gone``, which are among them."""
        held = list(self.all)
        for path in gone:
            del held[bisect_left(held, path)]
        for path in new:
            insort(held, path)
        return tuple(held)

    def below(self, folder: str) -> tuple[str, ...]:
        """The paths in a folder and its subfolders."""
        return self.all[bisect_left(self.all, f"{folder}/") : bisect_left(self.all, f"{folder}0")]

    def named(self, name: str, most: int = 2) -> list[str]:
        """The first ``most`` files with this name, in any folder; it may begin with the last folders."""
        held = self._called(name.rpartition("/")[2])
        if "/" in name:
            held = (path for path in held if path == name or path.endswith(f"/{name}"))
        return list(islice(held, most))

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The paths that a glob matches (``context.text.globs``); the results used last are cached."""
        return self._matching(pattern)

    @cached_property
    def _matching(self) -> Callable[[str], tuple[str, ...]]:
        return lru_cache(maxsize=_MOST_PATTERNS)(self._search)

    def _search(self, pattern: str) -> tuple[str, ...]:
        matches = glob(pattern)
        pattern = pattern.removeprefix("./")
        if "/" not in pattern and "**" not in pattern:
            # Only names count, and many files share theirs.
            names = [name for name in self._by_name[0] if matches(name)]
            return tuple(sorted(path for name in names for path in self._called(name)))
        folder = _LITERAL.match(pattern)
        inside = self.below(folder[1]) if folder is not None else self.all
        return tuple(filter(matches, inside))

    def _called(self, name: str) -> Iterator[str]:
        """The paths whose last part is ``name``."""
        first, following = self._by_name
        at = first.get(name, len(self.all))
        while at < len(self.all):
            yield self.all[at]
            at = following[at]

    @cached_property
    def _by_name(self) -> tuple[dict[str, int], array[int]]:
        """The first path by its last part, and for each path the next one with the same, as indices: a prompt
        may name thousands, and not one may be a search.

        A list for each name would have the garbage collector look at everything there is, which blocks all
        other threads.
        """
        end = len(self.all)
        first: dict[str, int] = {}
        following = array("I", [end]) * end
        for at in range(end - 1, -1, -1):
            name = self.all[at].rpartition("/")[2]
            following[at] = first.get(name, end)
            first[name] = at
        return first, following

    @cached_property
    def folders(self) -> Mapping[str, tuple[str, ...]]:
        """The paths directly in each folder, with sorted folders; the root is the empty string."""
        held: dict[str, list[str]] = {}
        for path in self.all:
            held.setdefault(path.rpartition("/")[0], []).append(path)
        return {folder: tuple(held[folder]) for folder in sorted(held)}

    @cached_property
    def lines(self) -> Mapping[str, str]:
        """The map's line for each folder: its name and the names of its files."""
        return {
            folder: f"{folder_name(folder)}: {', '.join(path.rpartition('/')[2] for path in inside)}\n"
            for folder, inside in self.folders.items()
        }

    @cached_property
    def size(self) -> int:
        """The total length of all paths in characters."""
        return sum(map(len, self.all))


def folder_name(folder: str) -> str:
    """A folder's name in the map."""
    return f"{'./' if not folder or folder[0].isspace() else ''}{folder}{'/' if folder else ''}"


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near each folder is to the files in hand, from 0 to 1: the share of the folder and its parents that
    also contain one of them. Without any all are as near, 0."""

    by_folder: Mapping[str, float]
    groups: Mapping[float, tuple[str, ...]]
    """The folders by their nearness, the nearest ones first and those as near in order."""


def nearness(folders: Iterable[str], hand: Sequence[str]) -> Nearness:
    """The nearness of sorted folders to the files in hand."""
    around = _folders_around(hand)
    by_folder = {folder: _nearness(folder, around) if hand else 0.0 for folder in folders}
    groups: dict[float, list[str]] = {}
    for folder, near in by_folder.items():
        groups.setdefault(near, []).append(folder)
    return Nearness(by_folder, {near: tuple(groups[near]) for near in sorted(groups, reverse=True)})


def _nearness(folder: str, around: frozenset[str]) -> float:
    depth = folder.count("/") + 1 if folder else 0
    common = depth
    while folder and folder not in around:
        folder = folder.rpartition("/")[0]
        common -= 1
    return (1 + common) / (1 + depth)


def _folders_around(paths: Iterable[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


def project_paths(paths: tuple[str, ...]) -> ProjectPaths:
    """The index of these paths, cached for the lists used last."""
    for known in _KNOWN:
        if known.all is paths:
            return known
    found = ProjectPaths(paths)
    _KNOWN.insert(0, found)
    del _KNOWN[_REMEMBERED:]
    return found


_REMEMBERED = 3
_KNOWN: list[ProjectPaths] = []
