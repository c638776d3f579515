"""The claim on a session: only the process that has it writes the session's journal.

A claim is a locked file (``flock``) in the project's folder ``live``, so that it ends with the process,
however that ends. The file names its holder; whoever finds it unlocked removes it. A session that no process
has open is claimed to give it a title.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from edits.ledger.shared_lock import Holder, holder_of, sign
from session.base.events import SessionNamed
from session.base.storage.folders import ProjectFolders, private_folder
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal

LOCK, SOCKET = ".lock", ".sock"
_TRIES = 10
_NAP = 0.02
"""Seconds between tries: who looks for open sessions holds each lock for a moment."""


class SessionTakenError(StoreError):
    """The session is open in another process, the ``holder``."""

    def __init__(self, name: str, holder: Holder) -> None:
        super().__init__(f"session {name} is open in {holder}; spark resume {name} follows it")
        self.name = name
        self.holder = holder


class Claim:
    """The claim of this process on the session ``name``."""

    def __init__(self, folder: Path, name: str) -> None:
        """Raises SessionTakenError if another process has it, StoreError where nothing can be locked."""
        self.name = name
        self.socket = folder / f"{name}{SOCKET}"
        """Where this process can be reached while it has the claim."""
        self._file = folder / f"{name}{LOCK}"
        try:
            private_folder(folder)
            self._descriptor: int | None = _locked(self._file, name)
        except OSError as problem:
            raise StoreError(
                f"session {name} cannot be claimed: {self._file}: {problem.strerror}"
            ) from problem

    def release(self) -> None:
        """Let another process have it. Nothing happens the second time."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                self._file.unlink()
            os.close(descriptor)


def open_elsewhere(folder: Path) -> list[str]:
    """The names of the sessions that processes have claimed, the newest first."""
    return sorted((file.stem for file, held in _claims(folder) if held), reverse=True)


def take_dead(folder: Path) -> list[str]:
    """Remove what processes left that ended without giving up their sessions; returns the sessions' names,
    the oldest first. Each is told once."""
    return sorted(file.stem for file, held in _claims(folder, remove=True) if not held)


def _claims(folder: Path, *, remove: bool = False) -> Iterator[tuple[Path, bool]]:
    """The claims, and whether a process holds each; ``remove`` those that nobody holds."""
    for file in folder.glob(f"*{LOCK}"):
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue  # it is gone again
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_still(descriptor, file):
                continue
            if remove:
                file.with_suffix(SOCKET).unlink(missing_ok=True)
                file.unlink(missing_ok=True)
            yield file, False
        except BlockingIOError:
            yield file, True
        except OSError:
            continue
        finally:
            os.close(descriptor)


def _locked(file: Path, name: str) -> int:
    for tries in range(_TRIES):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(descriptor, file):  # whoever held it before may have removed it
                sign(descriptor)
                return descriptor
        except BlockingIOError:
            if tries == _TRIES - 1:
                raise SessionTakenError(name, _held_by(descriptor)) from None
        except BaseException:  # whatever it was, nobody else could close the file
            os.close(descriptor)
            raise
        os.close(descriptor)
        time.sleep(_NAP)
    raise StoreError(f"session {name} cannot be claimed: {file} changes all the time")


def _held_by(descriptor: int) -> Holder:
    try:
        return holder_of(descriptor)
    finally:
        os.close(descriptor)


def _is_still(descriptor: int, file: Path) -> bool:
    """Whether the open file is the one that ``file`` names."""
    try:
        there = file.lstat()
    except FileNotFoundError:
        return False
    opened = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)


def rename_session(folders: ProjectFolders, name: str, title: str) -> None:
    """Write the title of the session ``name`` to its journal.

    Blocks. Raises SessionTakenError where a process has the session, StoreError where it cannot be written.
    """
    claim = Claim(folders.live, name)
    try:
        journal = Journal(folders.sessions, name)
        try:
            journal.write(SessionNamed(title))
        finally:
            journal.close()
    finally:
        claim.release()
