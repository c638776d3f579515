"""Going round what the text before the cursor could become: a few letters and Tab, Tab again for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tui.words.completion import Completer, from_files


@dataclass(frozen=True, slots=True)
class Completed:
    """``cut`` characters before the cursor become ``text``; ``at`` of ``of`` matches, from 1."""

    cut: int
    text: str
    at: int
    of: int


class Round:
    """Goes round the matches of what stood before the cursor when Tab was first pressed."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer
        self._matches: Sequence[str] = ()
        self._at = 0

    async def complete(self, before: str) -> Completed | None:
        """The completion for the text ``before`` the cursor, or None where there is nothing to complete.
        Files are looked for in a thread: keys that are for others are not held up."""
        look = self._completer
        found = await asyncio.to_thread(look, before) if from_files(before) else look(before)
        if found is None:
            return None
        word = found.word
        if self._matches and word == self._matches[self._at]:
            self._at = (self._at + 1) % len(self._matches)
        else:
            self._matches, self._at = found.texts, 0
            if word in self._matches and len(self._matches) > 1:
                self._at = (self._matches.index(word) + 1) % len(self._matches)
        if not self._matches:
            return Completed(0, "", 0, 0)
        return Completed(len(word), self._matches[self._at], self._at + 1, len(self._matches))
