"""Whole files in an answer that was asked for other edits: a fence with a file's text, perhaps named.

A code sample looks just the same. Only the file can tell, so what is read here is no more than a sample, and
goes on as prose too.
"""

from __future__ import annotations

import re
from dataclasses import replace

from edits.formats.openers import Named, commented_path, named_in
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind

_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,}(?!~))(?P<info>[^`]*)")
_MOST_LINES = 5_000


class Samples:
    """Reads the prose lines of one answer."""

    def __init__(self) -> None:
        self._above = ""
        self._fence = ""
        self._named = Named()
        self._lines: list[str] = []

    def take(self, line: str) -> Hunk | None:
        """Take a line of prose; the whole file that ends with it, if one does. Its path may be empty."""
        fence = _FENCE.fullmatch(line)
        if not self._fence:
            if fence is not None:
                self._begin(fence)
            self._above = line if line.strip() else self._above
            return None
        if fence is None or fence["info"].strip() or not fence["fence"].startswith(self._fence):
            if len(self._lines) < _MOST_LINES:
                self._lines.append(line)
            return None
        hunk = self._hunk()
        self.drop()
        return hunk

    def drop(self) -> None:
        """An edit begins, or the fence has ended: what came so far is none."""
        self._fence = self._above = ""
        self._named = Named()
        self._lines = []

    def _begin(self, fence: re.Match[str]) -> None:
        named = named_in(fence.string) if fence["info"].strip() else Named()
        self._fence, self._lines = fence["fence"], []
        self._named = named if named.path or named.names else named_in(self._above)

    def _hunk(self) -> Hunk | None:
        if not self._lines:
            return None
        path = self._named.path or commented_path(self._lines[0]) or ""
        lines = tuple(HunkLine(LineKind.NEW, text) for text in self._lines)
        hunk = Hunk(path, Action.UPDATE, Format.WHOLE, lines)
        return replace(hunk, names=self._named.names, unsure=self._named.unsure)
