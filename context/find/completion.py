"""Completes a mention while it is typed: files, folders and definitions, matched fuzzily."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from heapq import nsmallest

from context.project.project_paths import project_paths
from context.project.snapshot import Snapshot

LIMIT = 12
"""Default number of completions."""
_MOST_NAMES = 200_000
"""Number of definitions that are searched."""


_Order = tuple[int, int, bool, int, str]
"""How well a match fits, its kind, whether it is hidden, its length, and itself."""


class Target(StrEnum):
    """The kind of a completion's target."""

    FILE = "file"
    FOLDER = "folder"
    SYMBOL = "symbol"
    GLOB = "glob"


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion. ``text`` is the whole mention with its ``@`` and quotes; ``detail`` is for the user:
    a definition's file, a file's status, or the number of files that a glob matches."""

    text: str
    target: Target
    detail: str = ""


def complete(prefix: str, snapshot: Snapshot, limit: int = LIMIT) -> list[Completion]:
    """Complete what was typed after the ``@``; the best completions come first.

    ``prefix`` matches a path or name that has its letters in the same order. A match at the start of a
    name is better than one inside it, and that is better than scattered letters. Changed files come
    before others, hidden files after them, and short names before long ones. Without letters, the changed
    files and the top of the project are given. Case matters only if the prefix has upper case. After a
    file's path and a colon, the names that the file defines are given; for a glob, the files that it matches.
    """
    prefix = prefix.lstrip('"').removeprefix("./")
    if any(mark in prefix for mark in "*?["):
        return _named_by_glob(prefix.rstrip('"'), snapshot, limit)
    path, colon, part = prefix.partition(":")
    if colon and path in project_paths(snapshot.paths):
        return _inside(path, part.lstrip(":"), snapshot, limit)
    pattern = _pattern(prefix)
    scored: list[tuple[_Order, Completion]] = []
    for path in snapshot.paths:
        if pattern.search(path):
            place = _place(prefix, path)
            change = snapshot.changes.get(path)
            order = (place, 0 if change else 1, _hidden(prefix, path), len(path), path)
            detail = str(change.status) if change else ""
            scored.append((order, Completion(_mention(path), Target.FILE, detail)))
    for folder in _folders(snapshot.paths):
        if pattern.search(folder):
            order = (_place(prefix, folder), 1, _hidden(prefix, folder), len(folder), folder)
            scored.append((order, Completion(_mention(f"{folder}/"), Target.FOLDER)))
    if len(prefix) > 1 and "/" not in prefix:
        scored += _symbols(prefix, pattern, snapshot)
    return [completion for _, completion in nsmallest(limit, scored, key=lambda item: item[0])]


def _named_by_glob(pattern: str, snapshot: Snapshot, limit: int) -> list[Completion]:
    found = project_paths(snapshot.paths).matching(pattern)
    if not found:
        return []
    files = f"{len(found):,} file{'' if len(found) == 1 else 's'}"
    whole = Completion(_mention(pattern), Target.GLOB, files)
    return [whole, *(Completion(_mention(path), Target.FILE) for path in found)][:limit]


def _inside(path: str, part: str, snapshot: Snapshot, limit: int) -> list[Completion]:
    """The definitions in a file, as mentions of them."""
    entry = snapshot.entries.get(path)
    pattern = _pattern(part)
    names = [name for name in entry.names if pattern.search(name)] if entry is not None else []
    best = nsmallest(limit, names, key=lambda name: (_place(part, name), len(name), name))
    return [Completion(_mention(f"{path}::{name}"), Target.SYMBOL) for name in best]


def _symbols(prefix: str, pattern: re.Pattern[str], snapshot: Snapshot) -> list[tuple[_Order, Completion]]:
    found = []
    looked = 0
    for path, entry in snapshot.entries.items():
        looked += len(entry.names)
        if looked > _MOST_NAMES:
            break
        for name in entry.names:
            if pattern.search(name):
                order = (_place(prefix, name), 2, False, len(name), f"{name}\n{path}")
                found.append((order, Completion(f"@{name}", Target.SYMBOL, path)))
    return found


@lru_cache(maxsize=64)
def _pattern(prefix: str) -> re.Pattern[str]:
    """Matches text with the letters of ``prefix`` in the same order, not necessarily adjacent."""
    flags = re.NOFLAG if prefix != prefix.lower() else re.IGNORECASE
    return re.compile("[^\n]*?".join(map(re.escape, prefix)), flags)


def _place(prefix: str, path: str) -> int:
    """How well the letters match: 0 the whole name, with its suffix or without, 1 its start, 2 the path's
    start, 3 in the name, 4 in the path, 5 scattered."""
    name = path.rpartition("/")[2]
    if prefix == prefix.lower():
        name, path = name.lower(), path.lower()
    if prefix in (name, path, name.partition(".")[0] or name):
        return 0
    if name.startswith(prefix):
        return 1
    if path.startswith(prefix):
        return 2
    if prefix in name:
        return 3
    return 4 if prefix in path else 5


def _hidden(prefix: str, path: str) -> bool:
    """Whether a file's or a folder's name begins with a dot that was not typed."""
    return not prefix.startswith(".") and (path.startswith(".") or "/." in path)


@lru_cache(maxsize=2)
def _folders(paths: tuple[str, ...]) -> tuple[str, ...]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return tuple(sorted(folders))


def _mention(path: str) -> str:
    return f"@{path}" if re.fullmatch(r"[^\s\"'`<>|,;]+", path) else f'@"{path}"'
