"""Draws the editor pane: a line as a Strip, with gutter, text, tints, selection and cursor; of a very long
line the part that is in sight; and the scroll bar, which shows where signs are in all of the file.

Drawing all of a line of megabytes would hold every key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.editor.buffers.history import Selected
from tui.editor.signs import signs
from tui.editor.virtual_lines import SUGGESTED, GhostRow
from tui.screen.drawing.code import drawable
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, cells_to, untabbed, visible
from tui.screen.drawing.rows import Span, cut, overlaid

LONG = 4_000
"""Characters of a line from which on only a part of it is drawn."""
_STEP = 2_048
"""Characters that are measured together."""
AROUND_NUMBER = 3
"""The cells of the gutter beside the line number: a sign of each column, and a space."""
_MOST_DRAWN = 400
"""Lines that are kept: some screens of them."""
Cell = tuple[str, str]
"""A glyph and its role."""
_BLANK: Cell = (" ", "scrollbar")
_RAIL: Cell = ("│", "border")
Stretch = tuple[int, int, str]
"""The rows from the first on, up to one past the last, that have the sign of this name."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line: its first character and the cells before it, and its text with its roles."""

    start: int
    cells: int
    text: str
    spans: Sequence[Span]

    def column(self, column: int) -> int:
        """A column of the line as one of this part; at its nearer end where it is outside."""
        return min(max(0, column - self.start), len(self.text))


def part_in_sight(line: str, spans: Sequence[Span], first_cell: int, room: int) -> Part:
    """The part of ``line`` that the cells from ``first_cell`` on show in ``room`` cells, and some on both
    sides. A tab in it takes one cell."""
    start = cells = 0
    while start + _STEP < len(line):
        taken = _cells(line[start : start + _STEP])
        if cells + taken > first_cell:
            break
        start, cells = start + _STEP, cells + taken
    end = min(len(line), start + 2 * _STEP + room)
    untabbed = [(text.replace("\t", " "), role) for text, role in cut(spans, start, end)]
    return Part(start, cells, line[start:end].replace("\t", " "), untabbed)


@lru_cache(maxsize=8_192)
def _cells(text: str) -> int:
    return cell_len(visible(text.replace("\t", " ")))


@dataclass(frozen=True, slots=True)
class LineLook:
    """The look of a line; columns count characters from 0."""

    number: int
    spans: Sequence[Span]
    removed: bool
    landed: str
    """What a landed hunk did there, as in :class:`tui.editor.marks.Mark`; empty where none did."""
    conflict: bool
    current: bool
    cursor: int | None
    selected: tuple[int, int] | None
    note: str = ""
    """The name of a sign of the column ``note``; empty where there is none."""
    matches: Sequence[tuple[int, int]] = ()
    """What a search found in it."""
    ghost: tuple[int, str] | None = None
    """The suggested text in it, behind the column where it is drawn."""


def in_sight(look: LineLook, line: str, scroll_x: int, room: int) -> tuple[LineLook, str, int]:
    """``look``, ``line`` and ``scroll_x`` for the part of a long line that is in sight."""
    part = part_in_sight(line, look.spans, scroll_x, room)
    seen = range(part.start, part.start + len(part.text) + 1)
    cursor, ghost, selected = look.cursor, look.ghost, look.selected
    drawn = replace(
        look,
        spans=drawable(part.spans),
        cursor=cursor - part.start if cursor is not None and cursor in seen else None,
        selected=(part.column(selected[0]), part.column(selected[1])) if selected is not None else None,
        matches=[(part.column(start), part.column(end)) for start, end in look.matches],
        ghost=(ghost[0] - part.start, ghost[1]) if ghost is not None and ghost[0] in seen else None,
    )
    return drawn, part.text, scroll_x - part.cells


class DrawnLines:
    """The lines as they were drawn last: a key changes one of them, and TextArea asks for all."""

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[tuple[object, ...], Strip]] = {}

    def draw(
        self, look: LineLook, line: str, palette: Palette, width: int, number_width: int, scroll_x: int
    ) -> Strip:
        """What :func:`draw_line` gives."""
        asked = (look, line, palette, width, number_width, scroll_x)
        known = self._drawn.get(look.number)
        if known is not None and known[0] == asked:
            return known[1]
        if len(self._drawn) > _MOST_DRAWN:
            self._drawn.clear()
        strip = draw_line(look, line, palette, width, number_width, scroll_x)
        self._drawn[look.number] = asked, strip
        return strip


def draw_line(
    look: LineLook, line: str, palette: Palette, width: int, number_width: int, scroll_x: int
) -> Strip:
    """A line of the file, exactly ``width`` cells."""
    fill = _fill(look)
    number_role = "text" if look.current else "line_number"
    gutter = [
        *(_sign(name, palette, fill) for name in (_hunk_sign(look), look.note)),
        Segment(f"{look.number:>{number_width}} ", palette.style(number_role, fill)),
    ]
    if look.removed:
        text = [Segment("".join(text for text, _ in look.spans), palette.style("removed", fill))]
    else:
        text = [Segment(text, palette.style(role, fill)) for text, role in look.spans]
    blank = palette.style("text", fill)
    strip = Strip(text)
    room = max(0, width - number_width - AROUND_NUMBER)
    strip = strip.extend_cell_length(max(room + scroll_x, strip.cell_length + 2), blank)
    for start, end in look.matches:
        strip = overlaid(strip, cells_to(line, start), cells_to(line, end), palette.match)
    if look.selected is not None:
        start, end = (cells_to(line, column) for column in look.selected)
        strip = overlaid(strip, start, end + (look.selected[1] > len(line)), palette.selection)
    if look.ghost is not None:
        at, suggested = cells_to(line, look.ghost[0]), visible(untabbed(look.ghost[1]))
        left, right = strip.divide([at, strip.cell_length])
        strip = Strip.join([left, Strip([Segment(suggested, _ghost(palette, fill))]), right])
    if look.cursor is not None:
        at = cells_to(line, look.cursor)
        under = line[look.cursor : look.cursor + 1]
        wide = 1 if not under or under == "\t" else max(1, cell_len(visible(under)))
        strip = overlaid(strip, at, at + wide, palette.cursor)
    return Strip.join([Strip(gutter), strip.crop(scroll_x, scroll_x + room)])


def selected_part(selected: Selected, row: int, length: int) -> tuple[int, int] | None:
    """The selected columns of ``row``, one past the end for its line break."""
    start, end = sorted(selected)
    if start == end or not start[0] <= row <= end[0]:
        return None
    return (start[1] if row == start[0] else 0, end[1] if row == end[0] else length + 1)


def _ghost(palette: Palette, fill: str) -> Style:
    """The style of suggested text, which also without colours looks like no text of the file."""
    return palette.style("faint", fill) + Style(italic=True)


def draw_ghost(ghost: GhostRow, palette: Palette, width: int, number_width: int, scroll_x: int) -> Strip:
    """A line that is not in the text, exactly ``width`` cells."""
    room = max(0, width - number_width - AROUND_NUMBER)
    if ghost.sign == SUGGESTED:
        blank = palette.style("text", "surface")
        body = Strip([Segment(text, _ghost(palette, "surface")) for text, _ in ghost.spans])
        body = body.extend_cell_length(max(room + scroll_x, body.cell_length), blank)
        gutter = Strip([Segment(" " * (number_width + AROUND_NUMBER), blank)])
        return Strip.join([gutter, body.crop(scroll_x, scroll_x + room)])
    if ghost.sign != "+":
        old = ghost.sign == "-"
        style = palette.style("removed", "removed_background") if old else palette.style("warning", "panel")
        told = "".join(text for text, _ in ghost.spans)
        line = f"{ghost.sign}{' ' * (number_width + AROUND_NUMBER - 1)}{told}"
        return Strip([Segment(line, style)]).adjust_cell_length(width, style)
    spans = ghost.spans
    style = palette.style("added", "added_background")
    room = max(0, width - number_width - AROUND_NUMBER)
    # Sixteen colours have no tints: the whole line gets the colour of new text.
    text = [
        Segment(piece, style if palette.theme.ansi else palette.style(role, "added_background"))
        for piece, role in spans
    ]
    body = Strip(text)
    body = body.extend_cell_length(max(room + scroll_x, body.cell_length), style)
    sign = Segment("+" + " " * (number_width + AROUND_NUMBER - 1), style)
    return Strip.join([Strip([sign]), body.crop(scroll_x, scroll_x + room)])


def _fill(look: LineLook) -> str:
    if look.removed:
        return "removed_background"
    if look.current:
        return "current_line"
    return "landed_background" if look.landed else "surface"


def _hunk_sign(look: LineLook) -> str:
    return "removing" if look.removed else "conflict" if look.conflict else look.landed


def _sign(name: str, palette: Palette, fill: str) -> Segment:
    """One cell of the gutter."""
    sign = signs().get(name)
    return (
        Segment(sign.glyph, palette.style(sign.role, fill))
        if sign
        else Segment(" ", palette.style("text", fill))
    )


class Marked(Protocol):
    """A landed hunk: its rows, and the name of their sign."""

    @property
    def start(self) -> int: ...  # noqa: D102 (the class says it)
    @property
    def end(self) -> int: ...  # noqa: D102 (the class says it)
    @property
    def kind(self) -> str: ...  # noqa: D102 (the class says it)


class ScrollBar:
    """The bar as it is drawn now, in the rightmost column. Where all rows are in sight there is none, but for
    the line that it is beside another pane."""

    def __init__(self) -> None:
        self.rail = False
        """Whether it is the line between the editor and what stands beside it."""
        self._cells: tuple[Cell, ...] = ()
        self._joined: dict[int, tuple[Strip, tuple[Cell, Palette], Strip]] = {}
        """The lines as they were drawn last, without and with the bar: most are drawn again as they were."""

    def update(
        self, place: tuple[int, int, int], marks: Iterable[Marked], notes: Mapping[int, str]
    ) -> tuple[Cell, ...]:
        """Draw it for another ``place``: the first row in sight, the number of rows, and those in sight."""
        stretches = [(each.start, each.end, each.kind) for each in marks]
        stretches += [(row, row + 1, name) for row, name in notes.items()]
        self._cells = bar_cells(*place, stretches) or (_BLANK,) * (place[2] if self.rail else 0)
        if self.rail:
            self._cells = tuple(_RAIL if cell[0] == " " else cell for cell in self._cells)
        return self._cells or (("", ""),) * place[2]

    def beside(self, line: Callable[[int, int], Strip], y: int, width: int, palette: Palette) -> Strip:
        """The ``line`` with number ``y``, drawn as wide as the bar lets it be, and the bar's cell."""
        if not self._cells:
            return line(y, width)
        strip = line(y, width - 1)
        cell = self._cells[y] if y < len(self._cells) else _RAIL if self.rail else _BLANK
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
    cells: list[Cell] = [("┃", "scrollbar") if first <= y < first + size else _BLANK for y in range(height)]
    ranks: dict[int, int] = {}
    for start, end, name in stretches:
        sign = signs()[name]
        low, high = (min(row, total - 1) * height // total for row in (start, max(start, end - 1)))
        for y in range(low, high + 1):
            if sign.rank <= ranks.get(y, sign.rank):
                ranks[y] = sign.rank
                cells[y] = (sign.glyph, sign.role)
    return tuple(cells)
