"""What is drawn over and beside the rows of the chat: matches, selection, cursor, scroll bar, hints."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.drawing.palette import Palette
from tui.drawing.plain import cells_to, clipped
from tui.drawing.rows import Row, overlaid
from tui.panes.chat.reading import Reading

Thumb = tuple[int, int] | None
"""The lines of the thumb of the scroll bar; None while the bar is hidden."""


def read_over(
    strip: Strip, row: Row, number: int, reading: Reading, palette: Palette, *, focused: bool
) -> Strip:
    """``strip``, which shows ``row``, with what is read in it: matches, the selection and the cursor."""
    text = row.text
    for start, end in reading.matches_in(number):
        strip = overlaid(strip, cells_to(text, start), cells_to(text, end), palette.match)
    if (selected := reading.selected_in(number)) is not None:
        start, end = (cells_to(text, column) for column in selected)
        # A blank line shows that it is selected, too.
        strip = overlaid(strip, start, max(end, start + 1), palette.selection)
    cursor = reading.point(reading.cursor) if focused else None
    if cursor is not None and cursor[0] == number:
        at = cells_to(text, cursor[1])
        under = text[cursor[1] : cursor[1] + 1]
        strip = overlaid(strip, at, at + max(1, cell_len(under)), palette.cursor)
        strip = Strip.join([Strip([Segment("▶", palette.style("accent"))], 1), strip.crop(1)])
    return strip


def hint(text: str, width: int, palette: Palette) -> Strip:
    """A remark at the right of a line of the pane."""
    text = clipped(text, width)
    pad = " " * (width - cell_len(text))
    return Strip(
        [Segment(pad, palette.style("text")), Segment(text, palette.style("accent", "panel"))], width
    )


def thumb(top: int, total: int, height: int) -> Thumb:
    """The thumb for ``height`` rows of ``total`` from row ``top`` on."""
    if total <= height:
        return None
    size = max(1, height * height // total)
    start = round(top * (height - size) / max(1, total - height))
    return start, start + size


def bar(drawn: Thumb, y: int, palette: Palette) -> Strip:
    """The cell of the scroll bar at line ``y``."""
    if drawn is None:
        return Strip([Segment(" ", palette.style("text"))], 1)
    start, end = drawn
    return Strip([Segment("┃" if start <= y < end else "│", palette.style("scrollbar"))], 1)
