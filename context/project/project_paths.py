"""Indexes the paths of a project for look-ups; cached while the list of paths stays the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property


class ProjectPaths:
    """The paths of a project, which are sorted."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.all = paths

    def __contains__(self, path: str) -> bool:
        at = bisect_left(self.all, path)
        return at < len(self.all) and self.all[at] == path

    def below(self, folder: str) -> tuple[str, ...]:
        """The paths in a folder and in those inside it."""
        return self.all[bisect_left(self.all, f"{folder}/") : bisect_left(self.all, f"{folder}0")]

    def named(self, name: str, most: int = 2) -> list[str]:
        """The first files of this name, in any folder."""
        found: list[str] = []
        text, wanted = self._text, f"{name}\n"
        at = text.find(wanted)
        while at >= 0 and len(found) < most:
            if text[at - 1] in "/\n":
                start = text.rfind("\n", 0, at) + 1
                found.append(text[start : at + len(name)])
            at = text.find(wanted, at + 1)
        return found

    @cached_property
    def _text(self) -> str:
        return "\n".join(("", *self.all, ""))

    @cached_property
    def folders(self) -> Mapping[str, tuple[str, ...]]:
        """The paths right in each folder (the root is empty), folders in order."""
        held: dict[str, list[str]] = {}
        for path in self.all:
            held.setdefault(path.rpartition("/")[0], []).append(path)
        return {folder: tuple(held[folder]) for folder in sorted(held)}

    @cached_property
    def lines(self) -> Mapping[str, str]:
        """Each folder with the names in it, as the map lists it."""
        return {
            folder: f"{folder_name(folder)}: {', '.join(path.rpartition('/')[2] for path in inside)}\n"
            for folder, inside in self.folders.items()
        }

    @cached_property
    def size(self) -> int:
        """The characters of all paths."""
        return sum(map(len, self.all))


def folder_name(folder: str) -> str:
    """A folder as the map names it."""
    return f"{'./' if not folder or folder[0].isspace() else ''}{folder}{'/' if folder else ''}"


def nearness(folders: Iterable[str], hand: Iterable[str]) -> dict[str, float]:
    """How near each folder is to the files in hand, from 0 to 1: the share of the folders above its files
    that lead to one of them."""
    around = _folders_around(hand)
    return {folder: _nearness(folder, around) for folder in folders}


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
