"""Cycles through the matches of the text before the cursor: Tab puts in the first, Tab again the next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from tui.front.slash.completion import Completer, from_files


@dataclass(frozen=True, slots=True)
class Completed:
    """A completion: ``cut`` characters before the cursor are replaced by ``text``, match ``at`` of ``of``,
    from 1."""

    cut: int
    text: str
    at: int
    of: int


class CompletionCycle:
    """Cycles through the matches of the text that was before the cursor when Tab was first pressed."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer
        self._matches: Sequence[str] = ()
        self._at = 0

    async def complete(self, before: str, chosen: str | None = None) -> Completed | None:
        """The completion of the text ``before`` the cursor, or None where there is nothing to complete: the
        ``chosen`` match if there is one, else the first. Files are searched in a thread, so that other keys
        are not held up."""
        look = self._completer
        found = await asyncio.to_thread(look, before) if from_files(before) else look(before)
        if found is None:
            return None
        word = found.word
        if self._matches and word == self._matches[self._at]:
            self._at = (self._at + 1) % len(self._matches)
        else:
            self._matches, self._at = found.texts, 0
            if chosen is not None and chosen != word and chosen in self._matches:
                self._at = self._matches.index(chosen)
            elif word in self._matches and len(self._matches) > 1:
                self._at = (self._matches.index(word) + 1) % len(self._matches)
        if not self._matches:
            return Completed(0, "", 0, 0)
        return Completed(len(word), self._matches[self._at], self._at + 1, len(self._matches))
