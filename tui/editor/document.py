"""Gives Textual's TextArea the text of an open file.

Textual's own document measures every line at each key, and its view of wrapped lines renumbers all lines
below a new one. Nothing is wrapped here, so there is nothing to keep for each line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from textual.document._document import DocumentBase, EditResult, Location, Newline
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset, Size

from tui.editor.buffers.buffer import Buffer
from tui.editor.virtual_lines import EMPTY, Overlay
from tui.screen.drawing.plain import cells_to, column_at

if TYPE_CHECKING:
    from tui.editor.buffers.rows import Rows


class BufferDocument(DocumentBase):
    """A buffer as TextArea wants it."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self._width = max(map(_width, buffer.lines))
        """The widest line so far. It may be gone: a larger width does no harm."""

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace the text between two places. TextArea deletes a line up to the start of the next one, which
        the last line does not have."""
        start, end = min(start, self.end), min(end, self.end)
        replaced = self.buffer.between(start, end)
        _, stop = self.buffer.replace(start, end, text)
        return EditResult(stop, replaced)

    def grew(self, rows: Rows) -> None:
        """Note the width of new rows."""
        self._width = max([self._width, *map(_width, rows.new)])

    @property
    def text(self) -> str:
        """The whole text."""
        return self.buffer.text

    @property
    def newline(self) -> Newline:
        """The line separator."""
        return "\n"

    @property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.buffer.lines

    def get_line(self, index: int) -> str:
        """One line."""
        return self.buffer.lines[index]

    def get_text_range(self, start: Location, end: Location) -> str:
        """The text between two places, in either order."""
        return self.buffer.between(*sorted((start, end)))

    def get_size(self, indent_width: int) -> Size:
        """The width and the height of the text."""
        return Size(self._width, self.line_count)

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return len(self.buffer.lines)

    @property
    def start(self) -> Location:
        """The first place."""
        return (0, 0)

    @property
    def end(self) -> Location:
        """The last place."""
        return (self.line_count - 1, len(self.buffer.lines[-1]))

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        """A line, or several."""
        return self.buffer.lines[line_index]


class UnwrappedDocument(WrappedDocument):
    """A document whose lines are one row each, with the ghost lines of an overlay between them."""

    overlay: Overlay = EMPTY

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Nothing is wrapped."""

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Nothing is wrapped."""

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.document.line_count

    def get_offsets(self, line_index: int) -> list[int]:
        """Where a line is wrapped: nowhere."""
        return []

    def get_sections(self, line_index: int) -> list[str]:
        """The rows of a line."""
        return [self.document[line_index]]

    def get_tab_widths(self, line_index: int) -> list[int]:
        """Tabs are measured by :meth:`location_to_offset`."""
        return []

    def location_to_offset(self, location: Location) -> Offset:
        """The cell of a place."""
        row, column = location
        row = max(0, min(row, self.document.line_count - 1))
        return Offset(cells_to(self.document[row], column), self.overlay.view_row(row))

    def offset_to_location(self, offset: Offset) -> Location:
        """The place of a cell."""
        row = max(0, min(self.overlay.document_row(max(0, offset.y)), self.document.line_count - 1))
        return row, column_at(self.document[row], max(0, offset.x))

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """The column at a cell of a line."""
        return column_at(self.document[line_index], x_offset)


def _width(line: str) -> int:
    return len(line) if line.isascii() and "\t" not in line else cells_to(line, len(line))
