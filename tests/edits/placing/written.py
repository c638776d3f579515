"""Hunks, lines and files as the tables of this folder write them."""

from __future__ import annotations

from typing import Any

from edits.files.text import TextFile, decode
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind


def body(*lines: str) -> tuple[HunkLine, ...]:
    return tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)


def hunk(*lines: str, **more: Any) -> Hunk:
    return Hunk("f", Action.UPDATE, Format.V4A, body(*lines), **more)


def marked(lines: tuple[HunkLine, ...]) -> list[str]:
    return [f"{line.kind.value}{line.text}" for line in lines]


def text(content: str) -> TextFile:
    return decode(content.encode(), "f")
