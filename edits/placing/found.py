"""What is found of a hunk in a file: its place, its new text, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from edits.hunk import HunkLine, RefusalCode, Rung


@dataclass(frozen=True, slots=True)
class Place:
    """Lines ``start`` to ``end`` of the file, from 0, are the hunk's old text.

    ``lines`` is the reading that matched, its new lines indented as the file is.
    """

    start: int
    end: int
    rung: Rung
    lines: tuple[HunkLine, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """The hunk's new text is at these lines already, and its old text is nowhere."""

    start: int
    end: int
    rung: Rung


@dataclass(frozen=True, slots=True)
class Miss:
    """The hunk has no place in the file, or more than one."""

    code: RefusalCode
    message: str
