"""Keys that change whole lines: a new one indented as the one above, indent, dedent, comment."""

from __future__ import annotations

from typing import Literal

from textual.document._document import Selection
from textual.widgets import TextArea

from tui.editor.buffers.indenting import comment_mark, dedented, indented, line_break, toggled_comment

Part = Literal["all", "word"]
"""The part of a suggestion that a key accepts."""
LineEdit = Literal["break", "indent", "dedent", "comment"]


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
