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
        """How often it was started over."""

    @property
    def items(self) -> Sequence[Item]:
        """All items, oldest first."""
        return self._items

    def extend(self, items: Sequence[Item], tokens: int) -> None:
        """Append ``items``, which together take ``tokens`` tokens."""
        self._items.extend(items)
        self.tokens += tokens

    def copied(self) -> Conversation:
        """The same items, for one who reads beside a turn."""
        copy = Conversation()
        copy.extend(self._items, self.tokens)
        return copy

    def clear(self) -> None:
        """Start over with an empty window, when the old one is full."""
        self._items.clear()
        self.tokens = 0
        self.starts += 1
