"""Keeps both ends of a command's output, and gives them as text without parts of keys at the cut."""

from __future__ import annotations

from io import BytesIO
from typing import Protocol

from context.text.secrets import without_cut_beginning, without_cut_end
from session.base.text.printed import without_escapes


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
