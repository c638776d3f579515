"""The files and folders that a request names: ``@path``, or a bare path that exists in the project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_AT = re.compile(r"(?<![\w@])@(?:\"([^\"\n]+)\"|([^\s\"'`<>|,;]+))")
_BARE = re.compile(r"[^\s\"'`<>|,;()\[\]{}]+")
_LINE_NUMBER = re.compile(r"(?::\d+)+$")
_TRAILING = ".,:;!?)]}'\""


def mentions(text: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The project's files that ``text`` names, in the order named; a named folder gives its files.

    ``@"a name with spaces"`` works too. A bare word counts when it is a file's whole path, or a file
    name with an extension that only one file of the project has.
    """
    names = _names(tuple(paths))
    found: dict[str, None] = {}
    for match in _AT.finditer(text):
        for path in _named(match[1] or match[2], names, folders=True):
            found[path] = None
    for match in _BARE.finditer(text):
        word = match[0]
        if not word.startswith("@") and ("/" in word or "." in word):
            for path in _named(word, names, folders=False):
                found[path] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Names:
    paths: frozenset[str]
    folders: dict[str, list[str]]
    by_name: dict[str, list[str]]


@lru_cache(maxsize=2)
def _names(paths: tuple[str, ...]) -> _Names:
    folders: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        by_name.setdefault(name, []).append(path)
        while folder:
            folders.setdefault(folder, []).append(path)
            folder = folder.rpartition("/")[0]
    return _Names(frozenset(paths), folders, by_name)


def _named(word: str, names: _Names, *, folders: bool) -> list[str]:
    """The files that one word names, tried as written and then without what a sentence puts after it."""
    bare = word.rstrip(_TRAILING)
    for name in (word, bare, _LINE_NUMBER.sub("", bare)):
        path = name.removeprefix("./").rstrip("/")
        if path in names.paths:
            return [path]
        if folders and path in names.folders:
            return names.folders[path]
        alone = names.by_name.get(path, [])
        if len(alone) == 1 and "." in path:
            return alone
    return []
