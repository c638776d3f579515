"""Makes a git directory of spark's own, which git is given instead of the repository's.

Git runs what a repository's configuration and hooks folder name: monitors, filters, hooks, signature
checkers, transports and more with each version. It is therefore never pointed at either. A temporary
folder takes their place: links to the data (objects, refs, index, ignore rules), a copy of ``HEAD``, and
a configuration of allowed settings only.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import threading
import time
import weakref
from functools import cache
from pathlib import Path

from context.disk.repository import GitUnavailable, Repository, read_head

_OF_ALL_WORK_TREES = (
    "objects",
    "refs",
    "reftable",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
)
_OF_THIS_WORK_TREE = ("index", "info/sparse-checkout")
_FOLDERS = frozenset({"objects", "refs", "reftable"})


_PREFIX = "spark-git-"
_LOCK = "lock"
_YOUNG = 60.0
"""Seconds in which a folder may still be without its lock."""


@cache
def remove_abandoned() -> None:
    """Remove, once a process, what killed processes of this user left in the temporary folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            about = folder.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            if time.time() - about.st_mtime > _YOUNG and _is_abandoned(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # its owner has just removed it


def _is_abandoned(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


class PrivateGitDir:
    """A temporary git directory, deleted when this object is. Any thread may call its methods."""

    def __init__(self, repository: Repository) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Held as long as this process lives, whatever ends it: a folder whose lock is free is abandoned.
        self._held = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        self._remove = weakref.finalize(self, _remove, self.path, self._held)
        self._repository = repository
        self._head = b""
        self._lock = threading.Lock()
        (self.path / "info").mkdir()
        (self.path / "git").mkdir()
        for name in _OF_ALL_WORK_TREES:
            self._link(repository.common_dir / name, name)
        for name in _OF_THIS_WORK_TREE:
            self._link(repository.git_dir / name, name)
        for shared in repository.git_dir.glob("sharedindex.*"):
            self._link(shared, shared.name)
        self.refresh()

    def configure(self, config: str, excludes_file: Path) -> None:
        """Write its settings, and link the user's ignore rules at git's default place for them."""
        (self.path / "config").write_text(config, "ascii")
        self._link(excludes_file, "git/ignore")

    def refresh(self) -> None:
        """Copy ``HEAD`` anew if it changed: git does not follow a link there. Raises GitUnavailable."""
        head = read_head(self._repository.git_dir)
        if head is None:
            raise GitUnavailable(f"there is no repository in {self._repository.git_dir}: HEAD is damaged")
        with self._lock:
            if head == self._head:
                return
            # Replaced in one step, since another thread's git may be reading it.
            prepared = self.path / "HEAD.new"
            try:
                prepared.write_bytes(head)
                prepared.replace(self.path / "HEAD")
            except OSError as problem:
                raise GitUnavailable(
                    f"the temporary folder {self.path} cannot be used: {problem}"
                ) from problem
            self._head = head

    def _link(self, real: Path, name: str) -> None:
        """Link to ``real``, which may appear later; not to a named pipe, on which git would wait."""
        wanted = real.is_dir() if name in _FOLDERS else real.is_file()
        if wanted or not os.path.lexists(real):
            (self.path / name).symlink_to(real)
