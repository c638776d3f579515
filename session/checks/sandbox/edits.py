"""Files that are written into a sandbox before a command runs in it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

Edits = Mapping[str, bytes | None]
"""The new contents of files by their paths relative to the project's root; None for a deleted file."""


def write(edits: Edits, folder: Path, project: Path) -> None:
    """Write ``edits`` below ``folder``, with the permissions that files and folders have in ``project``.

    Links on the way are never followed: they are replaced, since what they lead to is not the sandbox's.
    Raises OSError.
    """
    for path, content in edits.items():
        target = folder / path
        if content is None:
            _delete(folder, PurePosixPath(path))
            continue
        _make_folders(folder, PurePosixPath(path).parent, project)
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        with target.open("xb") as file:
            file.write(content)
            os.fchmod(file.fileno(), _mode(project / path, 0o644))


def _delete(folder: Path, path: PurePosixPath) -> None:
    if any((folder / parent).is_symlink() for parent in path.parents if parent.parts):
        return  # the file is behind a link, so it is no file of the sandbox
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        (folder / path).unlink()


def _make_folders(folder: Path, below: PurePosixPath, project: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = PurePosixPath()
    for part in below.parts:
        made /= part
        target = folder / made
        if target.is_symlink():
            target.unlink()
        if not target.is_dir():
            target.mkdir()
            target.chmod(_mode(project / made, 0o755))


def _mode(file: Path, otherwise: int) -> int:
    """The permissions of ``file``, or ``otherwise`` where there is none."""
    try:
        return stat.S_IMODE(file.stat().st_mode) & 0o777
    except OSError:
        return otherwise
