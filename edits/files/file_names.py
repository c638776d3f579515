"""The files of a project, found without any index: enough to name the one a wrong path means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "build", "dist"})
_MOST = 20_000


def project_files(root: Path) -> Iterator[str]:
    """Paths relative to ``root``, hidden and generated folders left out, the first twenty thousand."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            yield Path(folder, name).relative_to(root).as_posix()
            count += 1
            if count >= _MOST:
                return
