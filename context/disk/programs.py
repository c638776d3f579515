"""Finding programs: what a project holds is never taken for one, wherever the search path leads."""

from __future__ import annotations

import os
from pathlib import Path


def find_program(name: str, root: Path) -> str | None:
    """The program ``name`` on the search path; never one that lies in the project itself."""
    for folder in map(Path, os.get_exec_path()):
        file = folder / name
        # Asked first: ``is_file`` raises where the folder may not be entered, as those of another user.
        if not folder.is_absolute() or not os.access(file, os.X_OK) or not file.is_file():
            continue
        if not file.resolve().is_relative_to(root.resolve()):
            return str(file)
    return None
