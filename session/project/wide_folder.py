"""Folders that are not one project, such as the home folder: reading all of one may take very long."""

from __future__ import annotations

import os
from pathlib import Path

MANY = 4
"""The number of repositories in a folder from which on it is taken for a collection of projects."""
_MOST_LOOKED_AT = 400
"""Entries of a folder that are looked at; this is no search."""


def why_wide(root: Path) -> str:
    """Why ``root`` should not be read without a question; empty for a project. It blocks for a moment."""
    home = Path.home().resolve()
    if root == root.parent:
        return "this folder is the root of the file system"
    if root == home:
        return "this folder is your home folder"
    if home.is_relative_to(root):
        return "your home folder is in this folder"
    if not (root / ".git").exists() and _repositories(root, MANY) >= MANY:
        return f"this folder holds {MANY} repositories or more"
    return ""


def _repositories(folder: Path, wanted: int, depth: int = 2) -> int:
    """The number of repositories in ``folder`` and in the folders in it; not counted beyond ``wanted``."""
    found = 0
    try:
        with os.scandir(folder) as entries:
            inner = [each for _, each in zip(range(_MOST_LOOKED_AT), entries, strict=False)]
        for entry in inner:
            if found >= wanted or not entry.is_dir(follow_symlinks=False):
                continue
            if (Path(entry.path) / ".git").exists():
                found += 1
            elif depth > 1 and not entry.name.startswith("."):
                found += _repositories(Path(entry.path), wanted - found, depth - 1)
    except OSError:
        return found  # what cannot be listed is not read either
    return found
