"""The files and folders that a request names: ``@path``, or a bare path that exists in the project."""

from __future__ import annotations

import re
from collections.abc import Iterable

_AT = re.compile(r"(?<![\w@])@(?:\"([^\"\n]+)\"|([^\s\"'`<>|,;]+))")
_BARE = re.compile(r"[^\s\"'`<>|,;()\[\]{}]+")
_TRAILING = ".,:;!?)]}'\""


def mentions(text: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The project's files that ``text`` names, in the order named; a named folder gives its files.

    ``@"a name with spaces"`` works too. A bare word counts when it is a file's whole path, or a file
    name with an extension that only one file of the project has.
    """
    known = set(paths)
    folders: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for path in sorted(known):
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
        folder = path.rpartition("/")[0]
        while folder:
            folders.setdefault(folder, []).append(path)
            folder = folder.rpartition("/")[0]
    found: dict[str, None] = {}
    for match in _AT.finditer(text):
        for path in _named(match[1] or match[2], known, folders, by_name):
            found[path] = None
    for match in _BARE.finditer(text):
        word = match[0]
        if not word.startswith("@") and ("/" in word or "." in word):
            for path in _named(word, known, {}, by_name):
                found[path] = None
    return tuple(found)


def _named(
    word: str, known: set[str], folders: dict[str, list[str]], by_name: dict[str, list[str]]
) -> list[str]:
    """The files that one word names, tried as written and then without what a sentence puts after it."""
    for name in (word, word.rstrip(_TRAILING), re.sub(r"(?::\d+)+$", "", word.rstrip(_TRAILING))):
        path = name.removeprefix("./").rstrip("/")
        if path in known:
            return [path]
        if path in folders:
            return folders[path]
        alone = by_name.get(path, [])
        if len(alone) == 1 and "." in path:
            return alone
    return []
