"""Finds named pipes in place of the files of rules that git reads in a work tree.

Git opens ``.gitignore`` and ``.gitattributes`` wherever it comes by, and waits for a writer where one is a
named pipe. No clone can bring a pipe, but an unpacked archive or another program can.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from time import monotonic

_RULES = (".gitignore", ".gitattributes")
_SECONDS = 5.0
"""How long is searched at most."""


def find_rules_pipe(root: Path) -> str | None:
    """The first file of rules in ``root``, or in a folder above it, that is a named pipe."""
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
