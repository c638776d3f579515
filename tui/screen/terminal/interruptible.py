"""Standard input for a program that Ctrl+C ends at once.

A signal just before a blocking read would be handled only after the read, which may never return.
"""

from __future__ import annotations

import io
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class _Input(io.RawIOBase):
    def __init__(self, source: int, signalled: int) -> None:
        super().__init__()
        self._source, self._signalled = source, signalled

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Wait for bytes or for a signal, and run its handler."""
        while self._source not in select.select([self._source, self._signalled], [], [])[0]:
            os.read(self._signalled, 64)
        with memoryview(buffer).cast("B") as view:
            data = os.read(self._source, len(view))
            view[: len(data)] = data
        return len(data)


@contextmanager
def interruptible(source: int) -> Iterator[BinaryIO]:
    """The file descriptor ``source`` as a stream. Call it in the main thread."""
    signalled, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        yield io.BufferedReader(_Input(source, signalled))
    finally:
        signal.set_wakeup_fd(before)
        os.close(signalled)
        os.close(told)
