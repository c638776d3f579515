"""Replaces a file of the cache in one step: a reader sees its old content or its new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """A file to write the next content of ``file`` to, which takes its place at the end.

    After an error it is deleted and ``file`` is unchanged. It is not synced to disk, since a cache that a
    power cut damaged is computed again. Raises OSError.
    """
    temporary = file.with_name(f"{file.name}.{os.urandom(8).hex()}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        temporary.replace(file)
    except BaseException:  # A Ctrl+C leaves no file behind either.
        temporary.unlink(missing_ok=True)
        raise
