"""What the editor's keys do: those that change whole lines, of which a new one is indented as the one above,
and those beyond its own text, which the app carries out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

from textual.document._document import Selection
from textual.widgets import TextArea

_OPENS = (":", "(", "[", "{")
"""What a line ends in whose next line is deeper."""
_CLOSED_BY = {")": "(", "]": "[", "}": "{"}
CLOSES = frozenset(_CLOSED_BY)
"""What closes a block of lines."""
_LOOKED_BACK = 2_000
"""Lines above a closing bracket that are searched for what opens it."""
Part = Literal["all", "word"]
"""The part of a suggestion that a key accepts."""
LineEdit = Literal["break", "indent", "dedent", "comment"]


def leading(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def line_break(line: str, column: int, unit: str) -> str:
    """What Enter inserts at ``column`` of ``line``: a line break, and the indentation of the next line."""
    before = line[:column]
    deeper = unit if before.rstrip().endswith(_OPENS) else ""
    return f"\n{leading(before)}{deeper}"


def bracket_level(lines: Sequence[str], row: int, bracket: str) -> str | None:
    """The blanks that a closing ``bracket`` at the beginning of ``row`` should stand behind: those of the
    line that opens it. None where that line is not found."""
    opening, depth = _CLOSED_BY[bracket], 0
    for line in reversed(lines[max(0, row - _LOOKED_BACK) : row]):
        for letter in reversed(line):
            depth += (letter == bracket) - (letter == opening)
            if depth < 0:
                return leading(line)
    return None


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


def without_suggestion(area: TextArea, path: str, part: Part) -> None:
    """Do what the keys that accept a suggestion do where none is shown."""
    match part:
        case "all" if not area.read_only:
            edit_lines(area, path, "indent")
        case "word":
            area.action_cursor_word_right()


def edit_lines(area: TextArea, path: str, how: LineEdit) -> None:
    """Do it to the lines that the selection touches, as one step of the history; it stays on them."""
    start, end = sorted(area.selection)
    unit = "\t" if area.indent_type == "tabs" else " " * area.indent_width
    lines = area.document.lines
    match how:
        case "break":
            _type(area, line_break(lines[start[0]], start[1], unit))
        case "indent" if start[0] == end[0]:
            line, column = lines[start[0]], start[1]
            cells = len(line[:column].expandtabs(area.indent_width))
            _type(area, "\t" if unit == "\t" else " " * (len(unit) - cells % len(unit)))
        case "indent":
            _change(area, indented(_touched(area), unit))
        case "dedent":
            _change(area, dedented(_touched(area), unit))
        case "comment":
            mark = comment_mark(path)
            if mark:
                _change(area, toggled_comment(_touched(area), mark))


def _type(area: TextArea, text: str) -> None:
    area.replace(text, *sorted(area.selection), maintain_selection_offset=False)


def close_block(area: TextArea, bracket: str) -> bool:
    """Type a closing bracket at the level of the line that opens it, where nothing but blanks stands before
    it; false where it is typed as any letter."""
    (row, column), end = sorted(area.selection)
    blanks = area.document.get_line(row)[:column]
    if area.read_only or end != (row, column) or not blanks or blanks.strip():
        return False
    level = bracket_level(area.document.lines, row, bracket)
    if level is None or level == blanks:
        return False
    area.replace(level + bracket, (row, 0), end, maintain_selection_offset=False)
    return True


def _rows(area: TextArea) -> range:
    start, end = sorted(area.selection)
    last = end[0] - 1 if end[0] > start[0] and not end[1] else end[0]
    return range(start[0], last + 1)


def _touched(area: TextArea) -> list[str]:
    rows = _rows(area)
    return area.document.lines[rows.start : rows.stop]


def _change(area: TextArea, new: list[str]) -> None:
    old, rows, before = _touched(area), _rows(area), area.selection
    if new == old:
        return
    area.replace("\n".join(new), (rows.start, 0), (rows.stop - 1, len(old[-1])))
    grown = {row: len(line) - len(was) for row, line, was in zip(rows, new, old, strict=True)}
    start, end = ((row, max(0, column + grown.get(row, 0)) if column else 0) for row, column in before)
    area.selection = Selection(start, end)


class Hands(Protocol):
    """Implemented by the app, on all open files and the session: a method for each ``hand`` of the keys."""

    async def undo(self) -> None:
        """Take back the last step of the file's history."""

    async def redo(self) -> None:
        """Make the step again that was taken back last."""

    async def next_tab(self, step: int) -> None:
        """Show the next (1) or the previous (-1) open file."""

    async def close_tab(self) -> None:
        """Close the shown file."""

    async def find(self) -> None:
        """Find a text in the file."""

    async def symbol(self) -> None:
        """Go to a definition by its name."""

    async def outside(self) -> None:
        """Edit the text in the user's own editor."""

    async def refactor(self) -> None:
        """Rewrite the selected lines."""
