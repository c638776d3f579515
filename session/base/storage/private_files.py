"""Files that only the user can read, replaced as a whole and changed by one process at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from session.base.storage.folders import private_folder


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
    from edits.ledger.shared_lock import LockHeldError, LockWait

    descriptor = os.open(private_folder(folder), os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            LockWait().acquire(descriptor, "the folder", LONGEST_WAIT, signed=False)
        except LockHeldError as held:
            raise TimeoutError(errno.ETIMEDOUT, held.message, str(folder)) from held
        yield
    finally:
        os.close(descriptor)
