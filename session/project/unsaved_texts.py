"""Unsaved texts of the editor, kept in the state folder through every end of the process.

Each process keeps its own in a folder that it holds a lock on for as long as it lives, so that a text is
offered again only once the process that it was typed in is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import time

from session.base.storage.folders import private_folder
from session.base.storage.private_files import StoreError, replace_private

_PIECE = 64 * 1024
"""Characters that are written at once."""


@dataclass(frozen=True, slots=True)
class UnsavedText:
    """The unsaved ``text`` of the file ``path``, typed until ``time`` (seconds since the epoch); ``base`` is
    the file as it was on disk. ``file`` keeps all of it."""

    path: str
    text: str
    base: str
    time: float
    file: Path


class UnsavedTexts:
    """The unsaved texts of a project, below ``folder``. All methods may be called from any thread, one at a
    time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / f"{os.getpid()}-{os.urandom(4).hex()}"
        self._lock: int | None = None

    def keep(self, path: str, text: str, base: str) -> None:
        """Keep the text of ``path`` in place of what was kept of it. Raises StoreError."""
        file = self._file(path)
        head = json.dumps({"path": path, "time": time()}).encode("ascii").removesuffix(b"}")
        data = [head, b', "text": ', *_written(text), b', "base": ', *_written(base), b"}"]
        try:
            if self._lock is None:
                self._lock = _locked(private_folder(self._own))
            replace_private(file, b"".join(data))
        except OSError as problem:
            raise StoreError(
                f"unsaved text of {path} cannot be kept in {file}: {problem.strerror}; save it soon"
            ) from problem

    def drop(self, path: str) -> None:
        """The text of ``path`` is saved, or is not wanted any more. Raises StoreError."""
        self._remove(self._file(path))

    def discard(self, text: UnsavedText) -> None:
        """Remove a text that another process left. Raises StoreError."""
        self._remove(text.file)

    def left(self) -> list[UnsavedText]:
        """The texts that processes left which are gone, the oldest first. Raises StoreError."""
        try:
            folders = [folder for folder in self._folder.iterdir() if folder.name != self._own.name]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreError(f"cannot read {self._folder}: {problem.strerror}") from problem
        found = [text for folder in folders for text in _left_in(folder)]
        return sorted(found, key=lambda text: text.time)

    def close(self) -> None:
        """Give up the lock; what is still kept is offered again from now on."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        _tidy(self._own)

    def _file(self, path: str) -> Path:
        return self._own / f"{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"

    def _remove(self, file: Path) -> None:
        try:
            file.unlink(missing_ok=True)
        except OSError as problem:
            raise StoreError(f"cannot remove {file}: {problem.strerror}") from problem
        if file.parent != self._own:
            _tidy(file.parent)


def _written(text: str) -> Iterator[bytes]:
    """``text`` as JSON, in pieces: while one large text is written at once, no other thread runs."""
    yield b'"'
    for at in range(0, len(text), _PIECE):
        yield json.dumps(text[at : at + _PIECE])[1:-1].encode("ascii")
    yield b'"'


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the lock of a folder; None when another process holds it. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _left_in(folder: Path) -> Iterator[UnsavedText]:
    """The texts in the folder of a process, if that is gone."""
    try:
        lock = _locked(folder)
    except OSError:
        return  # it is no folder of a process, or was removed just now
    if lock is None:
        return
    try:
        for file in sorted(folder.glob("*.json")):
            text = _read(file)
            if text is not None:
                yield text
    finally:
        os.close(lock)
        _tidy(folder)


def _read(file: Path) -> UnsavedText | None:
    """A kept text; None for a file that is not one."""
    try:
        kept = json.loads(file.read_bytes().decode("utf-8", "surrogatepass"))
        path, text, base = kept["path"], kept["text"], kept["base"]
        when = float(kept["time"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(each, str) for each in (path, text, base)):
        return None
    return UnsavedText(path, text, base, when, file)


def _tidy(folder: Path) -> None:
    """Remove the folder of a process, unless a text is in it."""
    try:
        folder.rmdir()
    except OSError:
        return
