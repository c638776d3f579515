"""SEARCH/REPLACE blocks: the default format of chat models.

Source: the conventions of aider and its followers (Cline, Roo), which differ in their markers::

    <<<<<<< SEARCH      ------- SEARCH
    old lines           old lines
    =======             =======
    new lines           new lines
    >>>>>>> REPLACE     +++++++ REPLACE

A block is complete at the newline after its REPLACE marker. Text that contains ``=======`` can be split in
several ways. All of them are readings of the hunk, the longest SEARCH first, and the file decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edits.files.diff import changes
from edits.formats.block import CLOSING_FENCE, Block, Body, Output
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode

OPENER = re.compile(r"(?P<indent>[ \t]*)(?:(?P<angle><{5,9} ?)|-{5,} )SEARCH>?\s*")
"""The line that opens a block."""
NEAR_OPENER = re.compile(r"\s*(?=[<-]{3})(?:<+-*|-+)\s*SEARCH>?\s*")
"""A line that was meant to open a block, but is in no known style."""
STRAY = re.compile(r"\s*(?:>{5,9} ?|\+{5,} )REPLACE\s*")
"""A REPLACE marker, anywhere."""
_SEPARATOR = re.compile(r"([ \t]*)={5,9}\s*")
_ANGLE_CLOSER = re.compile(r"([ \t]*)>{5,9} ?REPLACE\s*")
_DASH_CLOSER = re.compile(r"([ \t]*)\+{5,} REPLACE\s*")
# Longer separators occur only with the dashed markers.
_DASH_SEPARATOR = re.compile(r"([ \t]*)={5,}\s*")
_HINT = re.compile(r"\s*:(start_line|end_line):\s*(\d+)\s*")
_HINT_END = re.compile(r"\s*-{5,9}\s*")
_UNDECIDED = re.compile(r"\s*(?:=*\s*|[<>+-]+ ?[A-Z]*>?\s*|:[a-z_]*:?\s*\d*\s*)")
_NUMBERED = re.compile(r"\s*(\d+) \|(?: (.*)|)")


class SearchReplaceBlock(Block):
    """Reads a block. Without a ``path`` it is refused at its end."""

    def __init__(self, out: Output, opener: re.Match[str], path: str | None, fenced: bool) -> None:
        super().__init__()
        self._out = out
        self._path = path or ""
        self._fenced = fenced
        self._opening_indent: str = opener["indent"]
        self._indent = len(self._opening_indent)
        angle = opener["angle"] is not None
        self._closer = _ANGLE_CLOSER if angle else _DASH_CLOSER
        self._separator = _SEPARATOR if angle else _DASH_SEPARATOR
        self._rows: list[str] = []
        self._splits: list[int] = []
        self._line_hint: int | None = None
        self._in_hints = True
        self._all_crlf = True
        self._number = out.open(path, Action.UPDATE, Format.SEARCH_REPLACE) if path else None

    @property
    def number(self) -> int:
        """The number of the open hunk."""
        return self._number or 0

    def peek(self, head: str) -> Body | None:
        """The line's kind, as soon as it cannot become a marker."""
        if self._number is None or _UNDECIDED.fullmatch(head):
            return None
        return Body(self._kind, 0)

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line."""
        if OPENER.fullmatch(line):
            self._break(RefusalCode.MALFORMED, "a new block begins before this one's REPLACE marker")
            self.unread = True
            return None
        if self._is_marker(self._closer, line):
            self._finish()
            return None
        if self._in_hints and self._take_hint(line):
            return None
        if self._is_marker(self._separator, line):
            self._splits.append(len(self._rows))
            if len(self._splits) == 1:
                self._rows.append(line)
                return None
        self._rows.append(line)
        self._all_crlf = self._all_crlf and crlf is not False
        return Body(self._kind, 0) if self._number is not None else None

    def end(self, clean: bool) -> None:
        """End the block; after a clean end a missing REPLACE marker is accepted."""
        if not clean or not self._splits:
            self._break(
                RefusalCode.INCOMPLETE, "the stream ended inside this block; nothing of it was written"
            )
            return
        if self._fenced:
            while self._rows and not self._rows[-1].strip():
                self._rows.pop()
            if not (self._rows and CLOSING_FENCE.fullmatch(self._rows[-1])):
                self._break(RefusalCode.INCOMPLETE, "the block has no REPLACE marker and its fence is open")
                return
            self._rows.pop()
        self._finish()

    def tail(self) -> list[str]:
        """The last lines taken: if the marker was forgotten, the next block's path is among them."""
        return self._rows[-4:]

    @property
    def _kind(self) -> LineKind:
        return LineKind.NEW if self._splits else LineKind.OLD

    def _is_marker(self, marker: re.Pattern[str], line: str) -> bool:
        """Whether the line is a marker; indented deeper than the opener, it is text that quotes one."""
        match = marker.fullmatch(line)
        return match is not None and len(match[1]) <= self._indent

    def _take_hint(self, line: str) -> bool:
        hint = _HINT.fullmatch(line)
        if hint:
            if hint[1] == "start_line":
                self._line_hint = int(hint[2])
            return True
        self._in_hints = False
        return self._line_hint is not None and _HINT_END.fullmatch(line) is not None

    def _finish(self) -> None:
        if not self._splits:
            self._break(RefusalCode.MALFORMED, "the block has no “=======” line between SEARCH and REPLACE")
        elif self._number is None:
            self._break(
                RefusalCode.MALFORMED, "no file name: put the path alone on the line above the block's fence"
            )
        else:
            self._out.complete(self._number, self._hunk())
            self.done = True

    def _break(self, code: RefusalCode, message: str) -> None:
        self._out.broken(self._number, self._path, code, message)
        self.done = True

    def _hunk(self) -> Hunk:
        texts = [(self._rows[:at], self._rows[at + 1 :]) for at in self._splits]
        first_search, first_replace = texts[0]
        hint = self._line_hint
        numbered = _unnumbered(first_search, first_replace)
        readings = [
            _lines(search, replace) for search, replace in reversed(texts) if any(map(str.strip, search))
        ]
        if numbered is not None:
            first, search, replace = numbered
            hint = first if hint is None else hint
            readings.append(_lines(search, replace))
        if not any(map(str.strip, first_search)):
            new = self._dedented(first_replace) or first_replace
            added = tuple(HunkLine(LineKind.NEW, text) for text in new)
            return self._value(Action.ADD, added, hint, readings)
        trimmed = _trimmed(first_search, first_replace)
        if trimmed is not None:
            readings.append(_lines(*trimmed))
        shallower = self._dedented([*first_search, *first_replace])
        if shallower is not None:
            size = len(first_search)
            readings.append(_lines(shallower[:size], shallower[size:]))
        return self._value(Action.UPDATE, readings[0], hint, readings[1:])

    def _dedented(self, texts: Sequence[str]) -> list[str] | None:
        """The texts without the indentation of the markers, as in a list, if all of them have it."""
        indent = self._opening_indent
        if not indent or any(text.strip() and not text.startswith(indent) for text in texts):
            return None
        return [text[len(indent) :] for text in texts]

    def _value(
        self,
        action: Action,
        lines: tuple[HunkLine, ...],
        hint: int | None,
        others: Sequence[tuple[HunkLine, ...]],
    ) -> Hunk:
        return Hunk(
            path=self._path,
            action=action,
            format=Format.SEARCH_REPLACE,
            lines=lines,
            line_hint=hint,
            alternatives=tuple(others),
            newline="\r\n" if self._all_crlf else "\n",
        )


def _lines(search: Sequence[str], replace: Sequence[str]) -> tuple[HunkLine, ...]:
    """The edit as lines: what both sides have in common is context, so that the file keeps its bytes."""
    lines: list[HunkLine] = []
    at = 0
    for change in changes(search, replace):
        lines += [HunkLine(LineKind.CONTEXT, text) for text in search[at : change.start]]
        lines += [HunkLine(LineKind.OLD, text) for text in search[change.start : change.end]]
        lines += [HunkLine(LineKind.NEW, text) for text in replace[change.new_start : change.new_end]]
        at = change.end
    lines += [HunkLine(LineKind.CONTEXT, text) for text in search[at:]]
    return tuple(lines)


def _unnumbered(
    search: Sequence[str], replace: Sequence[str]
) -> tuple[int, Sequence[str], Sequence[str]] | None:
    """The texts without ``12 | `` before each line, if the lines of the SEARCH are numbered in sequence."""
    matches = [_NUMBERED.fullmatch(text) for text in search]
    numbers = [int(match[1]) for match in matches if match]
    if (
        not numbers
        or len(numbers) < len(search)
        or numbers != list(range(numbers[0], numbers[0] + len(numbers)))
    ):
        return None
    replaced = [_NUMBERED.fullmatch(text) for text in replace]
    if replace and all(replaced):
        replace = [match[2] or "" for match in replaced if match]
    return numbers[0], [match[2] or "" for match in matches if match], replace


def _trimmed(search: Sequence[str], replace: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """The texts without the blank lines around the SEARCH, which models often add."""
    texts = [index for index, text in enumerate(search) if text.strip()]
    before, after = texts[0], len(search) - 1 - texts[-1]
    if not before and not after:
        return None
    begin, end = 0, len(replace)
    while begin < min(before, end) and not replace[begin].strip():
        begin += 1
    while end > begin and len(replace) - end < after and not replace[end - 1].strip():
        end -= 1
    return search[before : len(search) - after], replace[begin:end]
