"""Replaces a file in one step: a reader sees its old content or its new one, never a part of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_LONGEST_PART = 100


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file to write the next content of ``path`` to. It takes its place at the end, and is durable then.

    The content is written to a file beside ``path``, with the permissions ``mode`` from its first byte.
    After an error that file is removed and ``path`` is as it was. Raises OSError.
    """
    temporary = path.with_name(f".{cut_name(path.name)}.{os.urandom(8).hex()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:  # a Ctrl+C leaves no prepared file behind either
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make ``folder`` with its parents, durably. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent, mode)
    folder.mkdir(mode, exist_ok=True)
    sync_folder(folder.parent)


def cut_name(name: str) -> str:
    """The beginning of ``name``, short enough to be part of another name.

    File systems limit the bytes of a name, so it is cut by bytes, between two characters.
    """
    return os.fsencode(name)[:_LONGEST_PART].decode("utf-8", "ignore")


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
