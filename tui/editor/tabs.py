"""The open files as a row of tabs, fitted to a width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tui.screen.drawing.plain import cell_len, clipped_left, visible

FOLLOWING = "↓"
"""Before a file that came up with the model's hunks."""
UNSAVED = "●"
"""Behind a file with unsaved text."""
LONGEST = 24
"""Cells of a name that is not the shown file's."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One open file."""

    path: str
    shown: bool
    dirty: bool
    pinned: bool


def tab_row(tabs: Sequence[Tab], width: int) -> list[tuple[str, bool]]:
    """The row of tabs in at most ``width`` cells: texts, and whether each is of the shown file. Where not all
    fit, those nearest to the shown one are there, and numbers say how many are not."""
    at = next((index for index, tab in enumerate(tabs) if tab.shown), 0)
    counts = Counter(_end(tab.path, 1) for tab in tabs)
    labels = [_label(tab, width if index == at else LONGEST, counts) for index, tab in enumerate(tabs)]
    first, last = at, at + 1
    grown = True
    while grown:
        grown = False
        for low, high in ((first, last + 1), (first - 1, last)):
            if low >= 0 and high <= len(tabs) and _width(labels, low, high) <= width:
                first, last, grown = low, high, True
                break
    row = [(f"‹{first} ", False)] if first else []
    for index in range(first, last):
        row.append((labels[index], index == at))
        if index + 1 < last:
            row.append((" │ ", False))
    return [*row, (f" {len(tabs) - last}›", False)] if last < len(tabs) else row


def _width(labels: Sequence[str], first: int, last: int) -> int:
    hidden = (len(str(first)) + 2 if first else 0) + (3 if last < len(labels) else 0)
    return sum(map(cell_len, labels[first:last])) + 3 * (last - first - 1) + hidden


def _end(path: str, parts: int) -> str:
    # Without `pathlib`: this is drawn with each frame, and a path makes Python remember its parts anew.
    return "/".join(path.split("/")[-parts:])


def _label(tab: Tab, room: int, counts: Counter[str]) -> str:
    name = _end(tab.path, 1)
    if counts[name] > 1:
        name = _end(tab.path, 2)
    mark = "" if tab.pinned else FOLLOWING
    end = f" {UNSAVED}" if tab.dirty else ""
    return f"{mark}{clipped_left(visible(name), max(6, room - len(mark) - len(end)))}{end}"
