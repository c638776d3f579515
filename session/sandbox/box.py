"""The folder of one sandbox: made privately, held by a lock while in use, removed when it is done.

A process that is killed leaves its folders behind without their locks. The next sandbox that is made removes
them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
from pathlib import Path

from session.storage.folders import private_folder

_LOCK = "lock"


class Box:
    """A new folder below ``parent``. Raises OSError if it cannot be made."""

    def __init__(self, parent: Path) -> None:
        self.path = private_folder(parent / secrets.token_hex(6))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Delete the folder with all that commands wrote. Call it once; it may take a while."""
        remove_tree(self.path)
        os.close(self._lock)


def remove_leftovers(parent: Path) -> int:
    """Delete the folders below ``parent`` that no running process holds, and return their number."""
    removed = 0
    with contextlib.suppress(FileNotFoundError):
        for folder in parent.iterdir():
            removed += _removed_if_free(folder)
    return removed


def _removed_if_free(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False  # just being made, just being removed, or not ours
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(folder)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def remove_tree(folder: Path) -> None:
    """Delete ``folder``, and folders in it whose permissions forbid that. Raises OSError for what stays."""
    for path, folders, _, descriptor in os.fwalk(folder, onerror=None):
        del path
        for name in folders:
            with contextlib.suppress(OSError):
                mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                    os.chmod(name, stat.S_IRWXU, dir_fd=descriptor)
    shutil.rmtree(folder)
