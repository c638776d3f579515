"""Files that only the user can read, of lines or replaced as a whole, changed by several processes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from session.base.storage.folders import private_folder


class StoreError(Exception):
    """A file in the state folder cannot be written, read or found; the message says which and why."""


def open_for_lines(file: Path) -> int:
    """Open ``file`` for appending lines, private to the user. An unfinished last line is ended first."""
    private_folder(file.parent)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            write_all(descriptor, b"\n")
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_to_read(file: Path) -> BinaryIO:
    """Open ``file`` for reading. Raises OSError, also for a pipe or a device: reading might never end."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(file))
    return os.fdopen(descriptor, "rb")


def append_line(file: Path, line: bytes) -> None:
    """Append one line, private to the user, in one write, so that others may append to the same file.

    Raises StoreError if it cannot be written.
    """
    try:
        descriptor = open_for_lines(file)
        try:
            write_all(descriptor, line + b"\n")
        finally:
            os.close(descriptor)
    except OSError as problem:
        raise StoreError(f"cannot write {file}: {problem.strerror}") from problem


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, in as many calls as the system needs. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_private(file: Path, data: bytes) -> None:
    """Replace ``file`` by one with ``data`` in it, private from its first byte. Raises OSError."""
    from edits.files.replacing import replacing  # the first frame is drawn without `edits`

    private_folder(file.parent)
    with replacing(file) as new:
        new.write(data)


LONGEST_WAIT = 10.0
"""Seconds to wait for another process that changes the files of a folder, which takes it a moment."""


@contextmanager
def changed_alone(folder: Path) -> Iterator[None]:
    """Keep other processes from changing the files in ``folder`` at the same time. Raises OSError, also where
    another process keeps the folder locked."""
    with _locked(
        os.open(private_folder(folder), os.O_RDONLY | os.O_CLOEXEC), "the folder", folder, LONGEST_WAIT
    ):
        yield


@contextmanager
def held_alone(file: Path, what: str, longest: float) -> Iterator[None]:
    """Keep other processes from holding ``file``, which stands for ``what``, at the same time; waits for at
    most ``longest`` seconds. Raises OSError, also where another process holds it for longer."""
    private_folder(file.parent)
    with _locked(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), what, file, longest):
        yield


@contextmanager
def _locked(descriptor: int, what: str, path: Path, longest: float) -> Iterator[None]:
    """Lock an open file, or a folder, and close it at the end."""
    from edits.ledger.shared_lock import LockHeldError, LockWait

    try:
        try:
            LockWait().acquire(descriptor, what, longest, signed=not path.is_dir())
        except LockHeldError as held:
            raise TimeoutError(errno.ETIMEDOUT, held.message, str(path)) from held
        yield
    finally:
        os.close(descriptor)


class CopiedText:
    """The text that was copied last; an earlier one is replaced."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "copied.txt"

    def write(self, text: str) -> Path:
        """Store ``text`` and return its file. Raises StoreError."""
        try:
            replace_private(self._file, text.encode("utf-8", errors="replace"))
        except OSError as problem:
            raise StoreError(f"cannot store the copied text in {self._file}: {problem.strerror}") from problem
        return self._file
