"""Whole files: a path, and a fence with the file's full text.

The path is on the line above the fence or after the fence's language. A file ends at the fence that matches
its opening one: with nothing after it, of the same character, and at least as long. Fences with a language
inside the text open a nested block, which ends at its own closing fence. A fence of three characters without
a language may also open one, so the file is complete only with the line after it.

A code sample looks just the same, so this format is read only on request.
"""

from __future__ import annotations

import re
from typing import Literal

from edits.formats.block import CUT, SENTENCE, Block, Body, Output
from edits.formats.openers import Named, path_of
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode

OPENER = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,}(?!~))(?P<info>[^`]*)")
"""A line that opens a fence."""
_BARE = re.compile(r"\s*(?:`{3,}|~{3,})\s*")
_SHORTEST = 3
_After = Literal["nothing", "path", "text", "all"]
_MAY_BE_FENCE = re.compile(r"[ \t]*(?:`*|~*)\s*")


class WholeBlock(Block):
    """A file's text being read. ``opener`` is the match of its opening fence, ``named`` what names it."""

    def __init__(self, out: Output, opener: re.Match[str], named: Named) -> None:
        super().__init__()
        self._out = out
        self._named = named
        self._path = path = named.path or named.names[-1]
        self._indent = opener["indent"]
        # The fences that are open, the file's own first.
        self._open = [opener["fence"]]
        self._lines: list[HunkLine] = []
        self._all_crlf = True
        # What has been seen after a fence that may be the file's own, or one in its text.
        self._after: _After = "nothing"
        self._number = out.open(path, Action.UPDATE, Format.WHOLE)

    @property
    def number(self) -> int:
        """The number of the file's hunk."""
        return self._number

    def peek(self, head: str) -> Body | None:
        """The line is text as soon as it cannot be a fence."""
        return None if _MAY_BE_FENCE.fullmatch(head) else self._body(head)

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line."""
        fence = OPENER.fullmatch(line)
        if fence is not None and self._closes(fence):
            self._open.pop()
            if not self._open:
                self._close(fence["fence"])
                return None
        elif fence is not None and fence["info"].strip() and self._nests(fence["fence"]):
            self._open.append(fence["fence"])
        body = self._body(line)
        self._lines.append(HunkLine(LineKind.NEW, line[body.offset :]))
        self._all_crlf = self._all_crlf and crlf is not False
        return body

    def end(self, clean: bool) -> None:
        """A file without its closing fence is never complete."""
        del clean
        message = "the file has no closing fence; nothing of it was written"
        self._out.broken(self._number, self._path, RefusalCode.INCOMPLETE, message)
        self.done = True

    def _body(self, line: str) -> Body:
        """In a list, the fence is indented and the text with it."""
        return Body(LineKind.NEW, len(self._indent) if line.startswith(self._indent) else 0)

    def _closes(self, fence: re.Match[str]) -> bool:
        mark: str = fence["fence"]
        top = self._open[-1]
        return not fence["info"].strip() and mark[0] == top[0] and len(mark) >= len(top)

    def _nests(self, mark: str) -> bool:
        """A fence that is shorter than the file's cannot end it, so it is not tracked."""
        return mark[0] == self._open[0][0] and len(mark) >= len(self._open[0])

    def doubt(self, line: str) -> None:
        """Take a line after the fence. Another fence without a language below text shows that it was one in
        the file's text; a blank line or a sentence that it was the file's own."""
        if self._after == "all":
            return
        if _BARE.fullmatch(line):
            self._refuse()
        elif self._after == "path" or not line.strip() or SENTENCE.fullmatch(line):
            if self._after != "text":
                self._complete()
        elif self._after == "nothing":
            self._after = "path" if path_of(line) is not None else "text"

    def claims(self, line: str) -> bool:
        """Whether the line is a fence of the file's text, and not that of another file."""
        return self._after != "all" and _BARE.fullmatch(line) is not None

    def conclude(self, clean: bool) -> None:
        """Nothing more follows."""
        if self._after == "all":
            return
        if clean:
            self._complete()
        else:
            self._after = "all"
            self._out.broken(self._number, self._path, RefusalCode.INCOMPLETE, CUT)

    def _close(self, mark: str) -> None:
        """The fence that ends the file, unless it is one in its text: only a longer one cannot be that."""
        self.done = True
        if len(mark) > _SHORTEST:
            self._complete()
        else:
            self.paused = True

    def _complete(self) -> None:
        newline = "\r\n" if self._all_crlf and self._lines else "\n"
        lines = tuple(self._lines)
        hunk = Hunk(self._path, Action.UPDATE, Format.WHOLE, lines, newline=newline)
        self._out.complete(self._number, self._named.told(hunk))
        self._after = "all"

    def _refuse(self) -> None:
        last = next((line.text.strip() for line in reversed(self._lines) if line.text.strip()), "")
        message = f"the fence below {last[:60]!r} may end the file or stand in it: put a longer one around it"
        self._out.broken(self._number, self._path, RefusalCode.MALFORMED, message)
        self._after = "all"
