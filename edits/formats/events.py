"""The events of the streaming parsers. Text in any pieces gives the same hunks in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode


@dataclass(frozen=True, slots=True)
class Prose:
    """Text outside any edit, to be shown as prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """An edit has begun and its file is known. ``number`` counts the stream's hunks from 1."""

    number: int
    path: str
    action: Action
    format: Format


@dataclass(frozen=True, slots=True)
class Typed:
    """A piece of a line of an open hunk, for showing it as it is typed; ``\\n`` ends the line."""

    number: int
    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """A hunk that may land: no continuation of the stream can change its meaning."""

    number: int
    hunk: Hunk


@dataclass(frozen=True, slots=True)
class Broken:
    """An edit that can never land as it is written. ``path`` is empty if there is none."""

    number: int
    path: str
    code: RefusalCode
    message: str


@dataclass(frozen=True, slots=True)
class Sampled:
    """A fence in the prose that may hold a whole file; ``hunk.path`` is empty where nothing names it."""

    hunk: Hunk


@dataclass(frozen=True, slots=True)
class Unread:
    """Text of an answer without any edit that looks like one, and why it is none. It comes last."""

    number: int
    message: str


ParserEvent = Prose | Opened | Typed | Completed | Broken | Sampled | Unread


class Parser(Protocol):
    """A streaming parser of one format (or of any, see ``edits.formats.detect``)."""

    def feed(self, text: str) -> list[ParserEvent]:
        """Take the next piece of the stream, of any length; the events that it causes."""

    def close(self, *, clean: bool) -> list[ParserEvent]:
        """End the stream. After a cut ``clean`` is false, and an unfinished hunk is ``incomplete``."""
