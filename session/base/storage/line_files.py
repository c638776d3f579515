"""Files of lines in the state folder: private to the user, and appended to by several processes."""

from __future__ import annotations

import errno
import os
import stat
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
