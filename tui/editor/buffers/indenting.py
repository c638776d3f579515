"""Indentation and comments: what Enter, Tab, Shift+Tab and the comment key make of lines."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

_OPENS = (":", "(", "[", "{")
"""What a line ends in whose next line is deeper."""


def leading(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def line_break(line: str, column: int, unit: str) -> str:
    """What Enter inserts at ``column`` of ``line``: a line break, and the indentation of the next line."""
    before = line[:column]
    deeper = unit if before.rstrip().endswith(_OPENS) else ""
    return f"\n{leading(before)}{deeper}"


def indented(lines: Sequence[str], unit: str) -> list[str]:
    """Lines one step deeper; blank ones stay."""
    return [unit + line if line.strip() else line for line in lines]


def dedented(lines: Sequence[str], unit: str) -> list[str]:
    """Lines one step less deep, as far as they are indented."""
    return [_shallower(line, unit) for line in lines]


def _shallower(line: str, unit: str) -> str:
    if line.startswith(("\t", unit)):
        return line.removeprefix("\t") if line.startswith("\t") else line.removeprefix(unit)
    return line.removeprefix(leading(line)[: len(unit)])


def comment_mark(path: str) -> str:
    """What begins a comment in a file of this name; empty where nothing does, or it is not known."""
    name = PurePosixPath(path).name
    for mark, ends in _marks().items():
        if any(f"/{name}".endswith(end) if end.startswith("/") else name.endswith(end) for end in ends):
            return mark
    return ""


def toggled_comment(lines: Sequence[str], mark: str) -> list[str]:
    """Lines commented out at their common indentation; as code again where all of them are comments."""
    written = [line for line in lines if line.strip()]
    if not written:
        return list(lines)
    if all(line.lstrip().startswith(mark) for line in written):
        return [_uncommented(line, mark) for line in lines]
    depth = min(len(leading(line)) for line in written)
    return [f"{line[:depth]}{mark} {line[depth:]}" if line.strip() else line for line in lines]


def _uncommented(line: str, mark: str) -> str:
    blanks, rest = leading(line), line.lstrip(" \t")
    return blanks + rest.removeprefix(mark).removeprefix(" ") if rest else line


@cache
def _marks() -> dict[str, list[str]]:
    return tomllib.loads(Path(__file__).with_name("comments.toml").read_text("utf-8"))
