"""The folder of one sandbox: made privately, held by a lock while in use, removed when it is done.

A process that is killed leaves its folders behind without their locks. The next sandbox that is made removes
them. Work on a folder is waited for when it is cancelled: a thread cannot be stopped, and what it makes or
writes afterwards would be left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from session.base.storage.folders import private_folder
from session.base.tasks import over

_LOCK = "lock"
_TRIES = 5
"""Folders that are made before giving up: a new one without its lock can be taken for a leftover."""


class Box:
    """A new folder below ``parent``. Raises OSError if it cannot be made."""

    def __init__(self, parent: Path) -> None:
        for left in reversed(range(_TRIES)):
            self.path = private_folder(parent / secrets.token_hex(6))
            try:
                self._lock = _locked(self.path / _LOCK)
                return
            except (BlockingIOError, FileNotFoundError):
                if not left:
                    raise

    def remove(self) -> None:
        """Delete the folder with all that commands wrote. Call it once; it may take a while."""
        remove_tree(self.path)
        os.close(self._lock)


def _locked(file: Path) -> int:
    """Make ``file`` and hold its lock. Raises BlockingIOError or FileNotFoundError while it is removed."""
    lock = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_ino != file.stat().st_ino:
            raise FileNotFoundError(f"{file} was replaced")
    except OSError:
        os.close(lock)
        raise
    return lock


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


T = TypeVar("T")


def _nothing() -> None:
    pass


def _kept(made: object) -> None:
    del made


async def to_the_end(
    work: Callable[[], T], *, stop: Callable[[], None] = _nothing, undo: Callable[[T], None] = _kept
) -> T:
    """What ``work`` returns, which runs in a thread. When this is cancelled, ``stop`` is called at once and
    ``undo`` with what was made. However often it is cancelled, it returns when both have ended."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop()
        await over(working)
        if not working.cancelled() and working.exception() is None:
            undoing = asyncio.ensure_future(asyncio.to_thread(undo, working.result()))
            await over(undoing)
            undoing.result()
        raise
