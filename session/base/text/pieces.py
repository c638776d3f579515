"""Keeps text that arrives in pieces: in few strings, and where wanted only the newest of it."""

from __future__ import annotations

import zlib

SHORTEST = 2_000
"""Characters up to which a string grows before another is begun. A string of its own for each token would
take fifteen times the memory of its text."""
PACKED_FROM = 32_000
"""Characters from which on text is kept compressed, as a long answer's is in several places until it ends: it
takes a third of the memory, and is read only when the answer was cut or is told of."""
_FASTEST = 1
"""zlib's level that takes the least time: 0.3 ms for each block of prose."""
LEFT_OUT = "[the beginning of this text is left out]\n"


def _add_piece(pieces: list[str], text: str) -> None:
    """Add ``text`` to ``pieces``: to the last string while that is short."""
    if pieces and len(pieces[-1]) < SHORTEST:
        pieces[-1] += text
    else:
        pieces.append(text)


class Pieces:
    """Text in its order; of more than ``most`` characters about that many are kept, the newest."""

    __slots__ = ("_length", "_loose", "_most", "_packed", "_strings", "gone")

    def __init__(self, most: int | None = None) -> None:
        # Most texts are short, and of these a deque would take more than the text.
        self._strings: list[str] = []
        self._packed: tuple[tuple[int, bytes], ...] = ()
        """What comes before them, in blocks: the characters of each, and its text in zlib's form."""
        self._length = 0
        self._loose = 0
        """Characters of the strings."""
        self._most = most
        self.gone = 0
        """Characters of the beginning that are not kept."""

    def __len__(self) -> int:
        """The number of characters that are kept."""
        return self._length

    def append(self, text: str) -> None:
        """Add text."""
        _add_piece(self._strings, text)
        self._length += len(text)
        self._loose += len(text)
        while self._most is not None and self._length > self._most:
            if self._packed:
                oldest, self._packed = self._packed[0][0], self._packed[1:]
            elif len(self._strings) > 1:
                oldest = len(self._strings.pop(0))
                self._loose -= oldest
            else:
                break
            self._length -= oldest
            self.gone += oldest
        if self._loose > PACKED_FROM:
            data = "".join(self._strings).encode("utf-8", "surrogatepass")
            self._packed += ((self._loose, zlib.compress(data, _FASTEST)),)
            self._strings.clear()
            self._loose = 0

    def clear(self) -> None:
        """Forget all of it."""
        self._strings.clear()
        self._packed = ()
        self._length = self._loose = 0
        self.gone = 0

    def text(self) -> str:
        """What is kept as one string. A line in front of it says where the beginning is gone."""
        return f"{LEFT_OUT}{self.newest()}" if self.gone else self.newest()

    def newest(self) -> str:
        """What is kept as one string, without that line."""
        before = [zlib.decompress(data).decode("utf-8", "surrogatepass") for _, data in self._packed]
        return "".join([*before, *self._strings])
