"""Keeps text that arrives in pieces: in few strings, and where wanted only the newest of it."""

from __future__ import annotations

SHORTEST = 2_000
"""Characters up to which a string grows before another is begun. A string of its own for each token would
take fifteen times the memory of its text."""
LEFT_OUT = "[the beginning of this text is left out]\n"


class Pieces:
    """Text in its order; of more than ``most`` characters about that many are kept, the newest."""

    __slots__ = ("_length", "_most", "_strings", "gone")

    def __init__(self, most: int | None = None) -> None:
        # Most texts are short, and of these a deque would take more than the text.
        self._strings: list[str] = []
        self._length = 0
        self._most = most
        self.gone = 0
        """Characters of the beginning that are not kept."""

    def __len__(self) -> int:
        """The number of characters that are kept."""
        return self._length

    def append(self, text: str) -> None:
        """Add text: to the last string while that is short."""
        if self._strings and len(self._strings[-1]) < SHORTEST:
            self._strings[-1] += text
        else:
            self._strings.append(text)
        self._length += len(text)
        while self._most is not None and self._length > self._most and len(self._strings) > 1:
            oldest = len(self._strings.pop(0))
            self._length -= oldest
            self.gone += oldest

    def clear(self) -> None:
        """Forget all of it."""
        self._strings.clear()
        self._length = self.gone = 0

    def text(self) -> str:
        """What is kept as one string. A line in front of it says where the beginning is gone."""
        return f"{LEFT_OUT}{self.newest()}" if self.gone else self.newest()

    def newest(self) -> str:
        """What is kept as one string, without that line."""
        return "".join(self._strings)
