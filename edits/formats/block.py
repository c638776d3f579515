"""What the line-based formats share: a block that is fed lines, and how it speaks.

A block is one stretch of an answer that holds edits: a V4A patch, a unified diff, one SEARCH/REPLACE
pair, one whole file. The detector (``edits.formats.detect``) cuts the stream into lines, opens a block
where one begins, and closes it when it says it is done.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

from edits.formats.events import Broken, Completed, Opened, ParserEvent, Typed
from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode

CLOSING_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|</(?:source|code|pre|codeblock|sourcecode)>)\s*")
"""A line that closes a code fence, in any of the styles models use."""
CUT = "the stream ended inside this edit; nothing of it was written"
"""The message of an edit whose end never came."""
_BULLET = re.compile(r"-(?:\s?|\s\S.*|-{2,}\s*)")


class Body(NamedTuple):
    """A line that is text of the edit: its part, and where its text begins in the line."""

    kind: LineKind
    offset: int


@dataclass(slots=True)
class Output:
    """Where parsers say their events, and the count of the stream's hunks."""

    events: list[ParserEvent] = field(default_factory=list)
    count: int = 0

    def open(self, path: str, action: Action, format: Format) -> int:
        """Say that a hunk begins, and return its number."""
        self.count += 1
        self.events.append(Opened(self.count, path, action, format))
        return self.count

    def typed(self, number: int, kind: LineKind, text: str) -> None:
        """Say a piece of an open hunk's text."""
        self.events.append(Typed(number, kind, text))

    def complete(self, number: int, hunk: Hunk) -> None:
        """Say that a hunk may land."""
        self.events.append(Completed(number, hunk))

    def broken(self, number: int | None, path: str, code: RefusalCode, message: str) -> None:
        """Say that a hunk can never land; one that was not opened gets its number here."""
        if number is None:
            self.count += 1
            number = self.count
        self.events.append(Broken(number, path, code, message))

    def drain(self) -> list[ParserEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events


class Block(ABC):
    """An edit that is being read, line by line.

    A block of a format whose end marker models forget may *pause* at a line that is not its own: the
    lines that follow are the answer's words, while its last hunk waits. What comes later decides: the
    patch goes on (``resumes``), so that a line in its middle was wrong, or it does not (``conclude``).
    """

    def __init__(self) -> None:
        self.done = False
        """The block has ended; the next line is not its own."""
        self.unread = False
        """The block ended *before* the line just taken, which is to be read again outside of it."""
        self.paused = False
        """The block has ended, unless a later line shows that it has not."""

    @property
    @abstractmethod
    def number(self) -> int:
        """The number of the hunk that body lines belong to now."""

    @abstractmethod
    def peek(self, head: str) -> Body | None:
        """Look at the beginning of an unfinished line; its part in the edit once that is certain."""

    @abstractmethod
    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line, without its ending; its part in the edit, or None for a marker.

        ``crlf`` says whether the ending was ``\\r\\n``; None for a last line that had none.
        """

    @abstractmethod
    def end(self, clean: bool) -> None:
        """The stream ended inside the block."""

    def tail(self) -> list[str]:
        """The last lines taken as text, in which a path may stand when the block broke off."""
        return []

    def resumes(self, line: str) -> bool:
        """Does ``line`` show that the paused block goes on? Then it is open again, and takes the line."""
        del line
        return False

    def doubt(self, line: str) -> None:
        """A line of words after the pause: one that looks like an edit's own refuses what waits."""
        del line

    def conclude(self, clean: bool) -> None:
        """Nothing of the paused block follows; ``clean`` is false when the stream was cut."""
        del clean


def looks_edited(line: str) -> bool:
    """Does a line after an edit look as if it were of the edit: ``+x``, ``-x``, but no bullet or rule?"""
    return line.startswith("+") or (line.startswith("-") and _BULLET.fullmatch(line) is None)
