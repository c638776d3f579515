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
from dataclasses import replace

from edits.files.diff import edited
from edits.formats.block import CLOSING_FENCE, Block, Body, Output
from edits.formats.openers import Named
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode

OPENER = re.compile(r"(?P<indent>[ \t]*)(?:(?P<angle><{5,9}) ?|-{5,} )SEARCH>?\s*")
"""The line that opens a block."""
CONFLICT = re.compile(r"(?P<indent>[ \t]*)(?P<angle><{7})(?P<label> [^<>]{1,80})?\s*")
"""A line that opens a block with the markers of a merge conflict, where it is none of the others."""
AS_BLOCK = "write <<<<<<< SEARCH above the file's text, and >>>>>>> REPLACE below the new one"
NEAR_OPENER = re.compile(r"\s*(?=[<-]{3})(?:<+-*|-+)\s*SEARCH>?\s*")
"""A line that was meant to open a block, but is in no known style."""
_FENCE_END = r"\s*(?P<fence>`{3,}|~{3,})?\s*"
STRAY = re.compile(rf"\s*(?:>{{5,9}} ?|\+{{5,}} )REPLACE>?{_FENCE_END}")
"""A REPLACE marker, anywhere."""
_SEPARATOR = re.compile(r"([ \t]*)={5,9}\s*")
_ANGLE_CLOSER = re.compile(rf"([ \t]*)>{{5,9}} ?REPLACE>?{_FENCE_END}")
_DASH_CLOSER = re.compile(rf"([ \t]*)\+{{5,}} REPLACE>?{_FENCE_END}")
_CONFLICT_CLOSER = re.compile(r"([ \t]*)>{7}(?: .*)?")
_GLUED = re.compile(r"(?P<text>.*[^\s>+])\s*(?:(?P<angle>>{5,}) ?|\+{5,} )REPLACE>?\s*")
"""A line of text at the end of which the REPLACE marker stands."""
_CUT = "the stream ended inside this block; nothing of it was written"
_SENTENCE = re.compile(r"[A-Z][\w'’`]*(?:[ ,][^\s;{}=]+){2,}[.!:]")
"""A line that reads like a sentence of an answer."""
# Longer separators occur only with the dashed markers.
_DASH_SEPARATOR = re.compile(r"([ \t]*)={5,}\s*")
_HINT = re.compile(r"\s*:(start_line|end_line):\s*(\d+)\s*")
_HINT_END = re.compile(r"\s*-{5,9}\s*")
_UNDECIDED = re.compile(r"\s*(?:=*\s*|[<>+-]+ ?[A-Z]*>?\s*[`~]*\s*|:[a-z_]*:?\s*\d*\s*)")


class SearchReplaceBlock(Block):
    """Reads a block of the file that is ``named`` above it. Without a name it is refused at its end."""

    def __init__(
        self,
        out: Output,
        opener: re.Match[str],
        named: Named,
        fenced: bool,
        *,
        lenient: bool = False,
    ) -> None:
        """With ``lenient`` a block without a path is complete: the caller knows the files."""
        super().__init__()
        self._lenient = lenient
        self._out = out
        self._named = named
        path = named.path or next(reversed(named.names), None)
        self._path = path or ""
        self._fenced = fenced
        self._opening_indent: str = opener["indent"]
        self._indent = len(self._opening_indent)
        angle = opener["angle"] is not None
        self._angles = len(opener["angle"] or "")
        # The line that ends in the marker, and whether another line has followed it.
        self._glued = ""
        self._followed = False
        self._conflict = opener.string.strip() if opener.re is CONFLICT else ""
        self._closer = _ANGLE_CLOSER if angle else _DASH_CLOSER
        if self._conflict:
            self._closer = _CONFLICT_CLOSER
        self._separator = _SEPARATOR if angle else _DASH_SEPARATOR
        self._rows: list[str] = []
        self._ending = ""
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
        bracket = bool(self._conflict) and head.lstrip().startswith((">", "<"))
        if self._number is None or bracket or _UNDECIDED.fullmatch(head):
            return None
        return Body(self._kind, 0)

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line."""
        if OPENER.fullmatch(line) or (self._conflict and CONFLICT.fullmatch(line)):
            self._break(RefusalCode.MALFORMED, "a new block begins before this one's REPLACE marker")
            self.unread = True
            return None
        if self._is_marker(self._closer, line):
            self._ending = line
            self._finish()
            return None
        if self._in_hints and self._take_hint(line):
            return None
        if self._splits and self._take_glued(line):
            return Body(self._kind, 0) if self._number is not None else None
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
        if not clean or not self._splits or self._conflict:
            self._break(RefusalCode.INCOMPLETE, _CUT)
            return
        if self._fenced:
            while self._rows and not self._rows[-1].strip():
                self._rows.pop()
            if not (self._rows and CLOSING_FENCE.fullmatch(self._rows[-1])):
                self._break(RefusalCode.INCOMPLETE, "the block has no REPLACE marker and its fence is open")
                return
            self._rows.pop()
        at = self._splits[0]
        self._rows[at + 1 :] = _unpadded(self._rows[:at], self._rows[at + 1 :])
        prose = _reads_on(self._rows[:at], self._rows[at + 1 :])
        if prose is not None:
            message = f"the block has no REPLACE marker, and {prose[:60]!r} may follow it"
            self._break(RefusalCode.INCOMPLETE, message)
            return
        self._finish()

    def doubt(self, line: str) -> None:
        """Take a line after a marker that stands at the end of a line. A fence shows that the block has
        ended there, another marker that it has not."""
        if not self._glued:
            return
        if STRAY.fullmatch(line) and self._followed:
            self._glued, glued = "", self._glued
            message = f"the block goes on after {glued[-60:]!r}: put the REPLACE marker on its own line"
            self._break(RefusalCode.MALFORMED, message)
        elif CLOSING_FENCE.fullmatch(line) or STRAY.fullmatch(line):
            self.conclude(clean=True)
        self._followed = self._followed or bool(line.strip())

    def conclude(self, clean: bool) -> None:
        """The block ended with the marker at the end of a line."""
        if self._glued:
            self._glued = ""
            if clean:
                self._finish()
            else:
                self._break(RefusalCode.INCOMPLETE, _CUT)

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

    def _take_glued(self, line: str) -> bool:
        """Whether the REPLACE marker stands at the end of the line, which the old text does not have."""
        glued = _GLUED.fullmatch(line)
        if glued is None or (glued["angle"] is None) != (self._angles == 0) or line in self._rows:
            return False
        more = max(0, len(glued["angle"] or "") - self._angles)
        self._rows.append(glued["text"] + ">" * more)
        self._glued = line
        self.done = self.paused = True
        return True

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
        elif self._number is None and self._lenient and self._searches:
            self._number = self._out.open("", Action.UPDATE, Format.SEARCH_REPLACE)
            self._out.complete(self._number, self._named.told(self._hunk()))
            self.done = True
        elif self._number is None or not (self._named.may_be_new or self._searches):
            self._break(
                RefusalCode.MALFORMED, "no file name: put the path alone on the line above the block's fence"
            )
        else:
            self._out.complete(self._number, self._named.told(self._hunk()))
            self.done = True

    @property
    def _searches(self) -> bool:
        """Whether the block looks for any text."""
        return any(map(str.strip, self._rows[: self._splits[0]]))

    def _break(self, code: RefusalCode, message: str) -> None:
        self._out.broken(self._number, self._path, code, message)
        self.done = True

    def _hunk(self) -> Hunk:
        if self._conflict:
            return self._conflicting()
        texts = [(self._rows[:at], self._rows[at + 1 :]) for at in self._splits]
        first_search, first_replace = texts[0]
        readings = [edited(*text) for text in reversed(texts) if any(map(str.strip, text[0]))]
        cleaned = [
            (search, _cleaned(search, replace, self._separator)) for search, replace in reversed(texts)
        ]
        readings += [
            edited(search, replace)
            for search, replace in cleaned
            if replace is not None and any(map(str.strip, search))
        ]
        if not any(map(str.strip, first_search)):
            new = self._dedented(first_replace) or first_replace
            added = tuple(HunkLine(LineKind.NEW, text) for text in new)
            return self._value(Action.ADD, added, readings)
        trimmed = _trimmed(first_search, first_replace)
        if trimmed is not None:
            readings.append(edited(*trimmed))
        shallower = self._dedented([*first_search, *first_replace])
        if shallower is not None:
            size = len(first_search)
            readings.append(edited(shallower[:size], shallower[size:]))
        return self._value(Action.UPDATE, readings[0], readings[1:])

    def _conflicting(self) -> Hunk:
        """The block with the markers of a merge conflict: text where the file has all of its lines, else an
        edit where the file has the upper lines as they are."""
        at = self._splits[0]
        quoted = [f"{self._opening_indent}{self._conflict}", *self._rows, self._ending]
        quote = tuple(HunkLine(LineKind.CONTEXT, text) for text in quoted)
        hunk = self._value(Action.UPDATE, quote, [edited(self._rows[:at], self._rows[at + 1 :])])
        return replace(hunk, flaw=f"“{self._conflict}” is the marker of a merge conflict: {AS_BLOCK}")

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
        others: Sequence[tuple[HunkLine, ...]],
    ) -> Hunk:
        return Hunk(
            path=self._path,
            action=action,
            format=Format.SEARCH_REPLACE,
            lines=lines,
            line_hint=self._line_hint,
            alternatives=tuple(others),
            newline="\r\n" if self._all_crlf else "\n",
        )


def _cleaned(
    search: Sequence[str], replace: Sequence[str], separator: re.Pattern[str]
) -> Sequence[str] | None:
    """The new text without separators at its ends, and the blank lines beside them; None if it has none."""
    begin, end = 0, len(replace)
    for index in range(len(replace)):
        if separator.fullmatch(replace[index]):
            begin = index + 1
        elif replace[index].strip():
            break
    for index in reversed(range(begin, len(replace))):
        if separator.fullmatch(replace[index]):
            end = index
        elif replace[index].strip():
            break
    if (begin, end) == (0, len(replace)):
        return None
    last = next((text for text in reversed(search) if text.strip()), None)
    kept = replace[begin:end]
    same = last is not None and last == next((text for text in reversed(kept) if text.strip()), None)
    return _unpadded(search, kept) if same and end < len(replace) else kept


def _unpadded(search: Sequence[str], replace: Sequence[str]) -> Sequence[str]:
    """The new text without blank lines at its end that the old text does not end with."""
    blank = len(search) - len("\n".join(search).rstrip().split("\n")) if search else 0
    end = len(replace)
    while end > blank and not any(map(str.strip, replace[end - 1 - blank : end])):
        end -= 1
    return replace[:end]


def _reads_on(search: Sequence[str], replace: Sequence[str]) -> str | None:
    """The line of a new text without its end marker at which prose may begin; None if there is none.

    What follows the last line that both texts have is new. A blank line in it, or a sentence, may be the end.
    """
    known = {text for text in search if text.strip()}
    last = max((index for index, text in enumerate(replace) if text in known), default=-1)
    tail = list(replace[last + 1 :])
    while tail and not tail[-1].strip():
        tail.pop()
    for index, text in enumerate(tail):
        if (index and not tail[index - 1].strip() and text.strip()) or _SENTENCE.fullmatch(text):
            return text
        if index == 0 and not text.strip():
            return next(line for line in tail if line.strip())
        if CLOSING_FENCE.fullmatch(text):
            return text
    return None


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
