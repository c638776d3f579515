"""Completing a mention (``@path``, ``@folder/``, ``@name``) in a prompt, or the file of a typed command
(``/pin path``): a few letters and Tab, Tab again for the next match."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.slash import slashes

_ARGUMENT = re.compile(r"/([a-z][a-z-]*)\s+@?(\"[^\"]*\"?|\S*)$")
_COMMAND = re.compile(r"/([a-z-]*)")
_AT_CURSOR = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*\"?|\S*)$")


@dataclass(frozen=True, slots=True)
class Completed:
    """``cut`` characters before the cursor become ``text``; ``at`` of ``of`` matches, from 1."""

    cut: int
    text: str
    at: int
    of: int


class Mention:
    """Goes round the matches of what stood behind the ``@`` when Tab was first pressed."""

    def __init__(self, matches: Callable[[str], Sequence[str]]) -> None:
        """``matches`` gives the mentions, ``@`` included, for what stands behind the ``@`` so far."""
        self._commands = frozenset(slash.name for slash in slashes() if slash.completes)
        self._files = matches
        self._matches: list[str] = []
        self._at = 0

    def _argument(self, before: str) -> str | None:
        """The argument of a typed command that takes files; None where there is none."""
        found = _ARGUMENT.fullmatch(before)
        takes = found is not None and found[1] in self._commands
        return found[2] if found is not None and takes else None

    def complete(self, before: str) -> Completed | None:
        """The completion for the text ``before`` the cursor, or None where no mention ends there."""
        command = _COMMAND.fullmatch(before)
        found = command or _AT_CURSOR.search(before)
        word = found[1] if found is not None else self._argument(before)
        if word is None:
            return None
        if self._matches and word == self._matches[self._at]:
            self._at = (self._at + 1) % len(self._matches)
        else:
            self._matches = (
                _names(word) if command else [each.removeprefix("@") for each in self._files(word)]
            )
            self._at = 0
            if word in self._matches and len(self._matches) > 1:
                self._at = (self._matches.index(word) + 1) % len(self._matches)
        if not self._matches:
            return Completed(0, "", 0, 0)
        return Completed(len(word), self._matches[self._at], self._at + 1, len(self._matches))


def _names(begun: str) -> list[str]:
    """The commands whose names go on so."""
    return [slash.name for slash in slashes() if slash.name.startswith(begun)]
