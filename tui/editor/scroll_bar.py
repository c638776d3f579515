"""The scroll bar of the editor: where the view is in the file, and where signs are in all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from rich.segment import Segment
from textual.strip import Strip

from tui.editor.signs import signs
from tui.screen.drawing.palette import Palette

Cell = tuple[str, str]
"""A glyph and its role."""
Stretch = tuple[int, int, str]
"""The rows from the first on, up to one past the last, that have the sign of this name."""


class Marked(Protocol):
    """A landed hunk: its rows, and the name of their sign."""

    @property
    def start(self) -> int: ...  # noqa: D102 (the class says it)
    @property
    def end(self) -> int: ...  # noqa: D102 (the class says it)
    @property
    def kind(self) -> str: ...  # noqa: D102 (the class says it)


class ScrollBar:
    """The bar as it is drawn now, in the rightmost column; there is none where all rows are in sight."""

    def __init__(self) -> None:
        self._cells: tuple[Cell, ...] = ()
        self._joined: dict[int, tuple[Strip, tuple[Cell, Palette], Strip]] = {}
        """The lines as they were drawn last, without and with the bar: most are drawn again as they were."""

    def update(
        self, place: tuple[int, int, int], marks: Iterable[Marked], notes: Mapping[int, str]
    ) -> tuple[Cell, ...]:
        """Draw it for another ``place``: the first row in sight, the number of rows, and those in sight."""
        stretches = [(each.start, each.end, each.kind) for each in marks]
        stretches += [(row, row + 1, name) for row, name in notes.items()]
        self._cells = bar_cells(*place, stretches)
        return self._cells or (("", ""),) * place[2]

    def beside(self, line: Callable[[int, int], Strip], y: int, width: int, palette: Palette) -> Strip:
        """The ``line`` with number ``y``, drawn as wide as the bar lets it be, and the bar's cell."""
        if not self._cells:
            return line(y, width)
        strip = line(y, width - 1)
        cell = self._cells[y] if y < len(self._cells) else (" ", "text")
        known = self._joined.get(y)
        if known is None or known[0] is not strip or known[1] != (cell, palette):
            joined = Strip([*strip, Segment(cell[0], palette.style(cell[1]))], width)
            known = self._joined[y] = strip, (cell, palette), joined
        return known[2]


def bar_cells(top: int, total: int, height: int, stretches: Iterable[Stretch]) -> tuple[Cell, ...]:
    """The cells of the bar beside ``height`` of ``total`` rows, from row ``top`` on; empty where all rows are
    in sight. Of several signs in one cell the most urgent is shown."""
    if height <= 0 or total <= height:
        return ()
    size = max(1, height * height // total)
    first = round(min(top, total - height) * (height - size) / (total - height))
    cells: list[Cell] = [("┃" if first <= y < first + size else " ", "scrollbar") for y in range(height)]
    ranks: dict[int, int] = {}
    for start, end, name in stretches:
        sign = signs()[name]
        low, high = (min(row, total - 1) * height // total for row in (start, max(start, end - 1)))
        for y in range(low, high + 1):
            if sign.rank <= ranks.get(y, sign.rank):
                ranks[y] = sign.rank
                cells[y] = (sign.glyph, sign.role)
    return tuple(cells)
