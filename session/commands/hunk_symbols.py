"""The definitions that landed hunks are in, for lists of hunks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from edits.files.path_jail import resolve
from edits.files.text import FileError
from edits.files.tree import Tree
from session.project.definitions import Definition, definitions_in, innermost

Lines = tuple[str, str, int, int]
"""A hunk, its file, and its lines there, from 1, the last one past the end."""


def symbols_of(root: Path, places: Iterable[Lines]) -> dict[str, str]:
    """The innermost definition around each hunk, by the hunk's id; hunks outside of all are left out. It
    reads and parses files: call it in a worker thread."""
    tree = Tree(root)
    known: dict[str, tuple[Definition, ...]] = {}
    found: dict[str, str] = {}
    for hunk, path, start, end in places:
        if path not in known:
            try:
                known[path] = definitions_in(path, tree.read_text(resolve(root, path).name, path).text)
            except (FileError, OSError):
                known[path] = ()  # it is gone, or no text: its hunks are in no definition
        name = _around(known[path], start - 1, max(start, end - 1))
        if name:
            found[hunk] = name
    return found


def _around(found: tuple[Definition, ...], first: int, end: int) -> str:
    """The innermost definition around all lines, else the first that the hunk brought."""
    code = [each for each in found if each.kind != "section"]
    inside = [each.name for each in code if each.start <= first and end <= each.end]
    if inside:
        return inside[-1]
    return next((name for line in range(first, end) if (name := innermost(found, line))), "")
