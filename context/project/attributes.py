"""Which files a project says that nobody edits by hand: ``linguist-generated`` and ``linguist-vendored`` in
``.gitattributes`` (see https://github.com/github-linguist/linguist/blob/main/docs/overrides.md)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from context.disk.source import Unread, read
from context.project.project_paths import project_paths
from context.text.globs import glob

if TYPE_CHECKING:
    from context.project.snapshot import Snapshot

_FILE = ".gitattributes"
_MARKS = ("linguist-generated", "linguist-vendored")
_MOST_FILES = 50
_MOST_RULES = 500
"""Number of rules that are read, since each is tried for each path."""
_MOST_KNOWN = 200_000

Rule = tuple[str, Callable[[str], bool], dict[str, bool | None]]
"""A folder with a slash at its end, or ""; what matches paths below it; and the marks that it sets."""


def unedited_in(snapshot: Snapshot) -> Callable[[str], bool]:
    """Returns a function that tells whether nobody edits a file by hand: as the project says or, where it
    says nothing, by its name and text."""
    found = project_paths(snapshot.paths).named(_FILE, _MOST_FILES)
    files = sorted((path for path in found if path not in snapshot.unread), key=lambda path: path.count("/"))
    told = _rules_of(snapshot.root, tuple((path, snapshot.entries.digest(path)) for path in files))
    places, place = snapshot.words.unedited, snapshot.entries.place

    def unedited(path: str) -> bool:
        said = told(path) if told is not None else None
        return bool(places) and place(path) in places if said is None else said

    return unedited


@lru_cache(maxsize=4)
def _rules_of(root: Path, files: tuple[tuple[str, str], ...]) -> Callable[[str], bool | None] | None:
    """The answers of some attribute files, given with their digests; those of deeper folders win. None if
    they say nothing about any file."""
    rules: list[Rule] = []
    for path, _ in files:
        source = read(root, path)
        if not isinstance(source, Unread) and "linguist-" in source.text:
            rules += _rules(path.removesuffix(_FILE), source.text)
    del rules[_MOST_RULES:]
    if not rules:
        return None

    @lru_cache(maxsize=_MOST_KNOWN)
    def told(path: str) -> bool | None:
        marks: dict[str, bool | None] = {}
        for folder, matches, sets in rules:
            if path.startswith(folder) and matches(path[len(folder) :]):
                marks |= sets
        known = [mark for mark in marks.values() if mark is not None]
        return any(known) if known else None

    return told


def _rules(folder: str, text: str) -> list[Rule]:
    rules: list[Rule] = []
    for line in text.splitlines():
        pattern, *words = line.split()[:20] or ("",)
        sets: dict[str, bool | None] = {}
        for word in words:
            name, _, value = word.lstrip("-!").partition("=")
            if name in _MARKS:
                sets[name] = None if word[0] == "!" else word[0] != "-" and value != "false"
        if sets and not pattern.startswith(("#", "!")):
            anchored = pattern.removeprefix("/") if "/" in pattern.removeprefix("/") else pattern
            rules.append((folder, _only_here(anchored) if anchored[:1] == "/" else glob(anchored), sets))
    return rules


def _only_here(pattern: str) -> Callable[[str], bool]:
    """Matches ``/name`` in the folder of the attribute file, and not below it."""
    matches = glob(pattern[1:])
    return lambda path: "/" not in path and matches(path)
