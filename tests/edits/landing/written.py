"""Hunks and a file as the tables of this folder write them."""

from __future__ import annotations

from edits.hunk import (
    Action,
    Format,
    Hunk,
    HunkLine,
    LineKind,
)

ABC = "a\nb\nc\n"


def body(*lines: str) -> tuple[HunkLine, ...]:
    return tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)


def update(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.UPDATE, Format.V4A, body(*lines))


def add(path: str, *lines: str, format: Format = Format.V4A) -> Hunk:
    return Hunk(path, Action.ADD, format, tuple(HunkLine(LineKind.NEW, line) for line in lines))


def move(path: str, to: str, *lines: str) -> Hunk:
    return Hunk(path, Action.MOVE, Format.V4A, body(*lines), move_to=to)


def delete(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.DELETE, Format.V4A, body(*lines))


def whole(path: str, *lines: str) -> Hunk:
    new = tuple(HunkLine(LineKind.NEW, line) for line in lines)
    return Hunk(path, Action.UPDATE, Format.WHOLE, new)
