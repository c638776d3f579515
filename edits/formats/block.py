"""What the line-based formats have in common: a block that takes lines, its output of events, signed lines.

A block is a part of an answer that contains edits: a V4A patch, a unified diff, one SEARCH/REPLACE pair,
one whole file. The parser of a whole answer (``edits.formats.detect``) cuts the stream into lines, opens a
block where one begins, and closes it when it is done.

The lines of V4A patches and diffs are signed: they begin with a blank, ``-`` or ``+``. Models forget the
blank before lines of context, and write prose right below the last line. Which of it is text of the file
only the file can tell, so each is another reading of the hunk.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from edits.formats.events import Broken, Completed, Opened, ParserEvent, Typed, Unread
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode

CLOSING_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|</(?:source|code|pre|codeblock|sourcecode)>)\s*")
"""A line that closes a code fence, in any of the styles models use."""
SENTENCE = re.compile(r"\s?[A-Z`*_][^\s;{}=]*(?: [^\s;{}=]+){2,}")
"""A line that reads like a sentence of an answer."""
CUT = "the stream ended inside this edit; nothing of it was written"
"""The message for an edit that has no end."""
_TEXT_OF_BULLET = re.compile(r" [A-Z`*_][^;{}=]*")
_BULLET = re.compile(r"-(?:\s?|\s\S.*|-{2,}\s*)")


class Body(NamedTuple):
    """A line that is text of the edit: its kind, and the index in the line at which the text begins."""

    kind: LineKind
    offset: int


@dataclass(slots=True)
class Output:
    """Collects the events of parsers and counts the stream's hunks."""

    events: list[ParserEvent] = field(default_factory=list)
    count: int = 0
    unread: str = ""
    """Why the first text that looks like an edit is none."""

    def open(self, path: str, action: Action, format: Format) -> int:
        """Add the event that a hunk begins, and return its number."""
        self.count += 1
        self.events.append(Opened(self.count, path, action, format))
        return self.count

    def typed(self, number: int, kind: LineKind, text: str) -> None:
        """Add a piece of an open hunk's text."""
        self.events.append(Typed(number, kind, text))

    def complete(self, number: int, hunk: Hunk) -> None:
        """Add the event that a hunk may land."""
        self.events.append(Completed(number, hunk))

    def broken(self, number: int | None, path: str, code: RefusalCode, message: str) -> None:
        """Add the event that a hunk can never land; one that was not opened gets its number here."""
        if number is None:
            self.count += 1
            number = self.count
        self.events.append(Broken(number, path, code, message))

    def doubt(self, why: str) -> None:
        """Remember a text that looks like an edit, and why it is none."""
        self.unread = self.unread or why

    def end(self) -> None:
        """Add the event for such a text, if there was no hunk."""
        if self.unread and not self.count:
            self.count += 1
            self.events.append(Unread(self.count, self.unread))

    def drain(self) -> list[ParserEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events


class Block(ABC):
    """An edit that is being read, line by line.

    In some formats models often forget the end marker. Such a block *pauses* at a line that does not belong
    to it: the lines that follow are prose, while the last hunk waits. Either the patch continues later
    (``resumes``), which means that a line in its middle was wrong, or it does not (``conclude``).
    """

    def __init__(self) -> None:
        self.done = False
        """Whether the block has ended, so that the next line does not belong to it."""
        self.unread = False
        """Whether the block ended *before* the line just taken, which must be read again outside of it."""
        self.paused = False
        """Whether the block has ended, unless a later line shows that it has not."""

    @property
    @abstractmethod
    def number(self) -> int:
        """The number of the hunk to which body lines belong now."""

    @abstractmethod
    def peek(self, head: str) -> Body | None:
        """Look at the beginning of an unfinished line; its kind as soon as that is certain."""

    @abstractmethod
    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line without its ending; its kind, or None for a marker.

        ``crlf`` says whether the ending was ``\\r\\n``; it is None for a last line without one.
        """

    @abstractmethod
    def end(self, clean: bool) -> None:
        """The stream ended inside the block."""

    def tail(self) -> list[str]:
        """The last lines taken as text. If the block broke off, the next path may be among them."""
        return []

    def resumes(self, line: str) -> bool:
        """Whether ``line`` shows that the paused block continues; if so, it is reopened with the line."""
        del line
        return False

    def doubt(self, line: str) -> None:
        """Take a line of prose after the pause; if it looks like part of an edit, refuse the last hunk."""
        del line

    def claims(self, line: str) -> bool:
        """Whether the line, which would begin another edit, may belong to the paused block."""
        del line
        return False

    def conclude(self, clean: bool) -> None:
        """Nothing more of the paused block follows; ``clean`` is false if the stream was cut."""
        del clean


def looks_edited(line: str, above: str = "") -> bool:
    """Whether a line after an edit looks like part of it: ``+x`` or ``-x``, but not a bullet or a rule, nor
    the header of another diff. ``above`` is the line before it, which may have been such a header's first."""
    if line.startswith(("--- ", "+++ ")):
        return False
    if above.startswith("--- "):
        return True
    return line.startswith("+") or (line.startswith("-") and _BULLET.fullmatch(line) is None)


_Lines = tuple[HunkLine, ...]


def readings(lines: Sequence[HunkLine], unsigned: Collection[int]) -> list[_Lines]:
    """The other ways to read ``lines``, of which those at the indices ``unsigned`` have no sign."""
    found: list[_Lines] = []
    if unsigned:
        typed = [_with_blank(line, index in unsigned) for index, line in enumerate(lines)]
        found.append(tuple(typed))
        while typed and typed[-1] == _BLANK:
            typed.pop()
        found.append(tuple(typed))
    shorter = _without_prose(lines, unsigned)
    if shorter is not None:
        found.append(shorter)
    return [reading for reading in dict.fromkeys(found) if reading != tuple(lines)]


def _with_blank(line: HunkLine, unsigned: bool) -> HunkLine:
    """A line of context as it was typed, if its blank was none that stands for context."""
    if line.kind is not LineKind.CONTEXT or unsigned or not line.text:
        return line
    return HunkLine(line.kind, f" {line.text}")


def _without_prose(lines: Sequence[HunkLine], unsigned: Collection[int]) -> _Lines | None:
    """The lines without the sentences or bullets at their end; None if there are none."""
    end = len(lines)
    while end and (_is_prose(lines[end - 1], end - 1 in unsigned) or lines[end - 1] == _BLANK):
        end -= 1
    kept = tuple(lines[:end])
    prose = any(line != _BLANK for line in lines[end:])
    finds = any(line.kind is not LineKind.NEW and any(map(str.isalnum, line.text)) for line in kept)
    return kept if prose and finds else None


def _is_prose(line: HunkLine, unsigned: bool) -> bool:
    if line.kind is LineKind.OLD:
        return _TEXT_OF_BULLET.fullmatch(line.text) is not None
    return unsigned and SENTENCE.fullmatch(line.text) is not None


_BLANK = HunkLine(LineKind.CONTEXT, "")
