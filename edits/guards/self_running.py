"""Files that run by themselves: something runs or follows them that the user did not start for that.

Held edits of them are asked about with a reason that says who runs the file. The names are in
``risky_files.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from edits.files.aliases import Aliases
from edits.guards.risky_files import changed_part, home_files, runs_by_itself


def by_name(file: Aliases, home: Path | None = None) -> str | None:
    """Why a file runs by itself whatever is in it, by any of its names; None if it does not."""
    for name in file.names:
        what = runs_by_itself(name)
        if what is not None:
            return f"{file.named(name)} runs by itself: {what}"
    if home is None or file.status is None:
        return None
    for name, what in home_files(held=True):
        if _is_same(f"{home}/{name}", file.status):
            return f"{file.shown} runs by itself: it is ~/{name}, {what}"
    return None


def by_content(
    files: Sequence[Aliases], before: bytes | None, after: bytes | None, old: str | None, new: str
) -> str | None:
    """Why a change makes something run by itself; ``files`` is its file, before and after a move.

    ``old`` and ``new`` are the texts of ``before`` and ``after``. A deletion makes nothing run.
    """
    if after is None:
        return None
    status = files[0].status
    if (
        status is not None
        and status.st_mode & 0o111
        and any(data is not None and data.startswith(b"#!") for data in (before, after))
    ):
        # Some file systems give every file these permissions, so the first line counts too.
        return f"{files[0].shown} runs by itself: it is an executable script"
    for name in files[-1].names:
        what = changed_part(name, old if len(files) == 1 else None, new)
        if what is not None:
            return f"{files[-1].named(name)} runs by itself: {what}"
    return None


def _is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)  # noqa: PTH116 - many paths are looked at for each edit
    except OSError:
        return False
