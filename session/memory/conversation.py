"""The items of the conversation so far, append-only."""

from __future__ import annotations

from collections.abc import Sequence

from session.protocol.items import Item


class Conversation:
    """The items so far, and the tokens they take by our own count."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self.tokens = 0
        self.starts = 0
        """How many times it was cleared."""

    @property
    def items(self) -> Sequence[Item]:
        """All items, oldest first."""
        return self._items

    def extend(self, items: Sequence[Item], tokens: int) -> None:
        """Append ``items``, which together take ``tokens`` tokens."""
        self._items.extend(items)
        self.tokens += tokens

    def copied(self) -> Conversation:
        """A copy, to read while a turn changes the original."""
        copy = Conversation()
        copy.extend(self._items, self.tokens)
        return copy

    def clear(self) -> None:
        """Remove all items: a new window begins."""
        self._items.clear()
        self.tokens = 0
        self.starts += 1
