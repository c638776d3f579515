"""Lists the project's files: those that git tracks or would track, or a walk that honours ``.gitignore``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from context.disk.git import Git
from context.disk.source import NESTED, Source, is_inside, read
from context.text.sorting import sorted_in_parts

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_TEMPORARY = re.compile(r"(.*/)?\.[^/]+\.[0-9a-f]{16}\.spark", re.DOTALL)
"""Matches the temporary files in which edits prepare new content."""
_AT_ONCE = 100_000
"""Number of bytes of git's list that are split at once."""
_STARS = re.compile(r"\*+")
_MOST_STARS = 3
"""Number of stars allowed in one part of an ignore rule, and of ``**`` in the whole rule."""
_SUSPICIOUS = (
    *("//", "\0/"),
    *(f"{before}{name}{after}" for name in (".", "..", ".git") for before in "\0/" for after in "\0/"),
)
"""One of these is in a list with a path that does not lie in the project."""
_REPOSITORY_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a project, and the folders that are not part of it.

    Paths are relative to the root with ``/`` between their parts, sorted. ``ignored`` are folders;
    ``unread`` maps folders that could not be listed to why.
    """

    files: tuple[str, ...]
    ignored: frozenset[str]
    unread: dict[str, str]


def is_temporary(path: str) -> bool:
    """Whether ``path`` is the temporary file of an edit that is being written."""
    return path.endswith(".spark") and _TEMPORARY.fullmatch(path) is not None


def list_git(git: Git) -> Listing:
    """Tracked files and untracked ones that no rule ignores. Raises GitUnavailable."""
    listed = _paths(git.run("ls-files", "-co", "--exclude-standard", "-z"))
    ignored = _paths(git.run("ls-files", "-oi", "--exclude-standard", "--directory", "-z"))
    # A folder that ends in "/" in the list of files is an untracked repository inside this one.
    files = dict.fromkeys(path for path in listed if not path.endswith("/"))
    nested = {path.rstrip("/"): NESTED for path in listed if path.endswith("/")}
    folders = {path.rstrip("/") for path in ignored if path.endswith("/")}
    return Listing(tuple(sorted_in_parts(files)), frozenset(folders | nested.keys()), nested)


def listed_by_git(git: Git, paths: set[str]) -> set[str]:
    """Which of ``paths`` git tracks or would track. Raises GitUnavailable."""
    if not paths:
        return set()
    return set(_paths(git.run("ls-files", "-co", "--exclude-standard", "-z", "--", *sorted(paths))))


def list_walk(root: Path) -> Listing:
    """Every file below ``root`` that no ``.gitignore`` ignores. Links to folders are not entered, so a
    circle of links ends; a folder that cannot be listed is reported."""
    files: list[str] = []
    ignored: set[str] = set()
    unread: dict[str, str] = {}
    for folder, entries, rules in _folders(root, unread):
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and (entry.name in _REPOSITORY_FOLDERS or is_ignored(path + "/", rules)):
                ignored.add(path)
            elif not is_folder and not is_ignored(path, rules) and not is_temporary(path):
                files.append(path)
    return Listing(tuple(sorted_in_parts(files)), frozenset(ignored), unread)


Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]
"""Ignore rules with the folder each set applies in, outermost first."""


def is_ignored(path: str, rules: Rules) -> bool:
    """Whether the rules ignore ``path``; the innermost set that says anything decides."""
    for folder, spec in reversed(rules):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False


def ignored_by_rules(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of ``paths``, which need not be there, that the project's ``.gitignore`` files ignore."""
    found = set()
    for path in paths:
        parts = path.split("/")
        rules: Rules = ()
        for depth in range(len(parts)):
            folder = "".join(f"{part}/" for part in parts[:depth])
            if (root / folder / ".gitignore").is_file():
                rules += _rules(root, folder)
            if is_ignored("/".join(parts[: depth + 1]) + ("/" if depth < len(parts) - 1 else ""), rules):
                found.add(path)
                break
    return frozenset(found)


def _folders(root: Path, unread: dict[str, str]) -> Iterator[tuple[str, list[os.DirEntry[str]], Rules]]:
    waiting: list[tuple[str, Rules]] = [("", ())]
    while waiting:
        folder, rules = waiting.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = list(listing)
        except OSError as problem:
            unread[folder.rstrip("/") or "."] = f"the folder cannot be listed: {problem.strerror}"
            continue
        if any(entry.name == ".gitignore" for entry in entries):
            rules = (*rules, *_rules(root, folder))
        yield folder, entries, rules
        for entry in entries:
            path = f"{folder}{entry.name}/"
            if (
                entry.is_dir(follow_symlinks=False)
                and entry.name not in _REPOSITORY_FOLDERS
                and not is_ignored(path, rules)
            ):
                waiting.append((path, rules))


def _rules(root: Path, folder: str) -> Rules:
    from pathspec import GitIgnoreSpec

    source = read(root, f"{folder}.gitignore")
    if not isinstance(source, Source):
        return ()
    return ((folder, GitIgnoreSpec.from_lines(line for line in source.lines if not _is_exponential(line))),)


def _is_exponential(line: str) -> bool:
    """Whether a rule has so many stars that matching it takes exponential time."""
    parts = re.sub(r"\*+/(?:\*+/)+", "**/", line).split("/")
    return line.count("**/") > _MOST_STARS or any(len(_STARS.findall(part)) > _MOST_STARS for part in parts)


def _paths(listed: bytes) -> list[str]:
    found: list[str] = []
    start = 0
    while start < len(listed):
        # In chunks: one long call would block all other threads.
        end = listed.find(b"\0", start + _AT_ONCE)
        piece = os.fsdecode(listed[start : end if end >= 0 else len(listed)])
        paths = [path for path in piece.split("\0") if path and not is_temporary(path)]
        # Looking at each path would take as long as all the rest.
        around = f"\0{piece}\0".lower()
        if any(sign in around for sign in _SUSPICIOUS):
            paths = [path for path in paths if is_inside(path.removesuffix("/"))]
        found += paths
        start = end + 1 if end >= 0 else len(listed)
    return found
