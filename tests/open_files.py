"""This process's open files that have no name any more."""

from __future__ import annotations

import contextlib
from pathlib import Path


def unnamed_in(folder: Path) -> list[int]:
    """The descriptors of those in ``folder``."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # that of the listing is closed again
            target = str(each.readlink())
            if target.startswith(f"{folder}/") and target.endswith(" (deleted)"):
                found.append(int(each.name))
    return found
