"""Notices that what an answer has said so far was thought: the end of thinking that nothing began.

Chat templates of some models write the tag that opens their thinking into the prompt (DeepSeek R1, QwQ), so
that a server without a parser for it passes only the closing tag on. Nobody can tell before that comes.
"""

from __future__ import annotations

import re

from edits.formats.wrapping import draft_in

_TAG = r"(?:</(?:\w+:)?think(?:ing)?\s*>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|endofthink)\|>)"
_CLOSER = re.compile(rf"\s*{_TAG}|.*{_TAG}\s*\Z", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(rf"\s*{_TAG}\s*", re.IGNORECASE)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LONGEST_LINE = 4_096
"""Characters of a line that are looked at: its end is what counts."""


class UnopenedThought:
    """Reads the prose between the edits of one answer."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        """What opened the code block that has not ended."""
        self._open = False
        """Whether a tag has begun thinking that has not ended."""

    def ends_in(self, prose: str) -> bool:
        """Whether thinking that no tag began has ended in ``prose``, the next piece. A tag counts at the
        beginning or the end of its line, and not within a block of code."""
        *lines, rest = (self._line + prose).split("\n")
        found = False
        for line in lines:
            found = self._ends_with(line) or found
        self._line = rest[-_LONGEST_LINE:]
        if _ALONE.fullmatch(rest):  # an edit may follow in the same line
            found = self._ends_with(rest) or found
            self._line = ""
        return found

    def _ends_with(self, line: str) -> bool:
        fence = _FENCE.match(line)
        if fence is not None:
            if not self._fence:
                self._fence = fence[1]
            elif fence[1].startswith(self._fence):
                self._fence = ""
            return False
        if self._fence:
            return False
        closes = _CLOSER.match(line[-_LONGEST_LINE:]) is not None
        if draft_in(line) is not None:
            self._open = not closes
            return False
        if not closes:
            return False
        was_open, self._open = self._open, False
        return not was_open
