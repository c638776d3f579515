"""Bytes that are rarely read, kept on disk in files without names, which go with the process.

Nothing has to be cleaned up behind a killed process, and no other program finds them.
"""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path
from tempfile import TemporaryFile

from session.base.storage.error_log import LOGGER
from session.base.storage.folders import private_folder

LARGEST = 4_000_000
"""Bytes from which on another file is begun. A file goes when nothing in it is kept any more."""


class Stored:
    """A piece that was stored. Its place on the disk is given up with the last piece of the same file."""

    __slots__ = ("_data", "_file", "_length", "_start")

    def __init__(self, data: bytes, file: _File | None, start: int) -> None:
        self._data = data if file is None else None
        self._file, self._start, self._length = file, start, len(data)

    def read(self) -> bytes:
        """The bytes. Raises OSError where the disk does not give them."""
        if self._file is None:
            return self._data or b""
        return self._file.read(self._start, self._length)


class _File:
    """One file without a name. It is closed, and its room given up, with the last reference to it."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile("w+b", buffering=0, dir=folder)  # noqa: SIM115 (closed with this object)
        self.length = 0

    def append(self, data: bytes) -> int:
        """Write at the end; where that was. Raises OSError; what was written then is overwritten later."""
        start, rest = self.length, memoryview(data)
        while rest:
            rest = rest[os.pwrite(self._file.fileno(), rest, self.length + len(data) - len(rest)) :]
        self.length += len(data)
        return start

    def read(self, start: int, length: int) -> bytes:
        """The bytes at a place. Raises OSError, also where there are fewer."""
        pieces, end = list[bytes](), start + length
        while start < end:
            piece = os.pread(self._file.fileno(), end - start, start)
            if not piece:
                raise OSError(errno.EIO, "a file without a name is shorter than it was")
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)


class UnnamedFiles:
    """Stores bytes in files without names in ``folder``, and without a folder in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: _File | None = None

    def store(self, data: bytes) -> Stored:
        """Store ``data``. Where the disk takes no more it stays in memory, and the log says why."""
        if self._folder is None:
            return Stored(data, None, 0)
        try:
            if self._file is None or self._file.length >= LARGEST:
                self._file = _File(private_folder(self._folder))
            return Stored(data, self._file, self._file.append(data))
        except OSError as problem:
            # Nothing is tried again: a full disk would be asked for each piece of a long answer.
            self._folder = self._file = None
            logging.getLogger(LOGGER).warning("what is rarely read stays in memory: %s", problem)
            return Stored(data, None, 0)
