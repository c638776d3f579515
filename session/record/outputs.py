"""Keeps the output of commands and tool calls: both ends of it as text without parts of keys at the cut, and
the whole of it in files without names that go with the process.

The screen and the model get the parts that matter; the user can ask for all of it. What commands print is
made safe to show: it loses its escape sequences, so that keys are found in it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Protocol

from context.text.secrets import redact, without_cut_beginning, without_cut_end
from session.base.storage.error_log import LOGGER
from session.base.text.sanitize import clean

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: links, titles, images
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-?@-Z\\^_`-~]"
)
"""Escape sequences of ECMA-48 and ECMA-35, which some tools print to any output."""


def without_escapes(text: str) -> str:
    """``text`` without colours, links and other escape sequences."""
    return _ESCAPE.sub("", text)


def plain(text: str) -> str:
    """``text`` safe to show, with its keys. A line that was overwritten, as progress bars are, keeps only its
    last state. Escape sequences go first: a key that has one in its middle is not known as a key."""
    return clean(overwritten(without_escapes(text)))


def overwritten(text: str) -> str:
    """``text`` as a terminal shows it at the end: of a line that a carriage return led back to its beginning,
    as progress bars do, only the last state is left."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def printable(text: str) -> str:
    """``text`` safe to show, without keys."""
    return redact(plain(text)).text


class Store(Protocol):
    """A file, in memory or on a disk, in which an output is kept."""

    def seek(self, offset: int, /) -> object:
        """Go to byte ``offset``."""
        ...

    def write(self, data: bytes, /) -> object:
        """Write ``data`` there."""
        ...

    def read(self) -> bytes:
        """All bytes from there on."""
        ...


class KeptOutput:
    """The first ``head`` and the last ``tail`` bytes of an output; the end is a ring behind the beginning."""

    def __init__(self, head: int, tail: int, store: Store | None = None) -> None:
        """``store`` is empty; without one, the output is kept in memory."""
        self._head = head
        self._tail = tail
        self._store: Store = BytesIO() if store is None else store
        self.total = 0
        """The bytes that were taken."""

    def take(self, piece: bytes) -> None:
        """Take the next piece. Raises OSError where the store takes no more; what came before stays."""
        while piece:
            at, end = self._place()
            self._store.seek(at)
            self._store.write(piece[: end - at])
            self.total += len(piece[: end - at])
            piece = piece[end - at :]

    def text(self) -> str:
        """What is kept, without escape sequences. Where it was cut a line says how much is missing, and what
        may be a part of a key is not there."""
        self._store.seek(0)
        data, left = self._store.read(), self.total - self._head - self._tail
        if left <= 0:
            return _text(data)
        at, _ = self._place()
        first, last = _text(data[: self._head]), _text(data[at:] + data[self._head : at])
        gap = f"\n… {left:,} bytes of output were not kept …\n"
        return f"{without_cut_end(first)}{gap}{without_cut_beginning(last)}"

    def _place(self) -> tuple[int, int]:
        """Where the next byte goes, and where the room behind it ends."""
        if self.total < self._head:
            return self.total, self._head
        return self._head + (self.total - self._head) % self._tail, self._head + self._tail


def _text(data: bytes) -> str:
    # Escapes go before a cut word does: a part of a key may stand on either side of one.
    return without_escapes(data.decode("utf-8", "replace").replace("\r\n", "\n"))


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
