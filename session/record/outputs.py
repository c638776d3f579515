"""Keeps the whole output of commands and tool calls, in files without names that go with the process.

The screen and the model get the parts that matter; the user can ask for all of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock

from session.base.storage.error_log import LOGGER
from session.base.text.printed import printable
from session.record.kept_output import KeptOutput

HEAD = 1_000_000
"""Bytes kept from the beginning of an output. To search them for keys must not hold the event loop up."""
TAIL = 1_000_000
"""Bytes kept from the end of a longer one."""
MOST = 40
"""The outputs that are kept; the oldest go first."""
_IN_MEMORY = 64_000


class Outputs:
    """The outputs by the names of their calls and commands. ``folder`` is a private one on a disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, _Output] = {}

    def keep(self, name: str) -> Callable[[bytes], None]:
        """What takes the pieces of the output called ``name``, on the event loop."""
        self._kept[name] = output = _Output(self._folder)
        while len(self._kept) > MOST:
            self._kept.pop(next(iter(self._kept))).close()
        return output.take

    def keep_text(self, name: str, text: str) -> None:
        """Keep ``text`` as the output called ``name``, where that printed nothing itself."""
        output = self._kept.get(name)
        if output is None or not output.total:
            self.keep(name)(text.encode())

    def text(self, name: str) -> str | None:
        """The output called ``name`` without control sequences and keys; None where it is not kept. Call it
        in a thread: it blocks."""
        output = self._kept.get(name)
        return None if output is None else output.text()


class _Output:
    """One output, in a file without a name."""

    def __init__(self, folder: Path) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY, "w+b", dir=str(folder))  # noqa: SIM115 (closed by close)
        self._kept = KeptOutput(HEAD, TAIL, self._file)
        self._lock = Lock()
        self._full = False

    @property
    def total(self) -> int:
        """The bytes that were taken."""
        return self._kept.total

    def take(self, piece: bytes) -> None:
        """Keep the next piece. Where the disk takes no more, what came before stays."""
        with self._lock:
            try:
                if not self._full:
                    self._kept.take(piece)
            except OSError as problem:
                self._full = True
                logging.getLogger(LOGGER).warning("cannot keep the whole output of a command: %s", problem)

    def text(self) -> str:
        """What was kept, with a line that says how much was not."""
        with self._lock:
            if self._file.closed:
                return ""
            text = self._kept.text()
        return printable(text)

    def close(self) -> None:
        """Give the file up."""
        with self._lock:
            self._file.close()
