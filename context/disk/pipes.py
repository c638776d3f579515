"""Finds named pipes in place of the files that git reads: rules in a work tree, and the repository's data.

Git opens them wherever it comes by, and waits for a writer where one is a named pipe. No clone can bring a
pipe, but an unpacked archive or another program can.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from time import monotonic

_RULES = (".gitignore", ".gitattributes")
_SECONDS = 5.0
"""How long is searched at most, for each of the two kinds."""


def find_pipe(root: Path, data: Iterable[Path]) -> str | None:
    """The first file of rules in ``root``, or in a folder above it, or file below the folders ``data``, that
    is a named pipe or a link to one."""
    return _rules_pipe(root) or _data_pipe(data)


def _rules_pipe(root: Path) -> str | None:
    for above in root.parents:
        if (found := _pipe_in(str(above))) is not None:
            return found
    latest = monotonic() + _SECONDS
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        if not set(_RULES).isdisjoint(files) and (found := _pipe_in(folder)) is not None:
            return found
        if monotonic() > latest:
            return None
    return None


def _pipe_in(folder: str) -> str | None:
    for name in _RULES:
        path = os.path.join(folder, name)  # noqa: PTH118 - Path is slow in a walk over a large tree
        try:
            if stat.S_ISFIFO(os.lstat(path).st_mode):
                return path
        except OSError:
            continue
    return None


def _data_pipe(folders: Iterable[Path]) -> str | None:
    latest = monotonic() + _SECONDS
    waiting = [str(folder) for folder in folders]
    while waiting and monotonic() < latest:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False) and stat.S_ISFIFO(entry.stat().st_mode):
                        return entry.path
        except OSError:
            continue  # it vanished, or may not be read: git cannot wait there either
    return None
