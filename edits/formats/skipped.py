"""A SEARCH/REPLACE block with a malformed opening marker, which is skipped up to its REPLACE marker."""

from __future__ import annotations

from edits.formats.block import CLOSING_FENCE, Block, Body
from edits.formats.search_replace import OPENER, STRAY


class SkippedBlock(Block):
    """Skips the block, which was refused at its beginning."""

    @property
    def number(self) -> int:
        """No hunk is open."""
        return 0

    def peek(self, head: str) -> Body | None:
        """Nothing of it is shown."""
        del head
        return None

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Look for the end of the block, or the beginning of the next one."""
        del crlf
        if STRAY.fullmatch(line):
            self.done = True
        elif CLOSING_FENCE.fullmatch(line) or OPENER.fullmatch(line):
            self.done = self.unread = True
        return None

    def end(self, clean: bool) -> None:
        """Nothing is open."""
        del clean
