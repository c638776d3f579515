"""The conversation as the model holds it: an append-only list of items."""

from __future__ import annotations

from collections.abc import Sequence

from session.wire.protocol.items import Item


class Conversation:
    """The items of the conversation. ``tokens`` is their sum by spark's own count."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self.tokens = 0
        self.starts = 0
        """The number of times that it was cleared."""

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
        """Remove all items, to begin a new window."""
        self._items.clear()
        self.tokens = 0
        self.starts += 1
