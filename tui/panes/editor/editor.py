"""The editor pane: the file being edited, with landed hunks marked and the hunk in flight drawn in place.

Textual's TextArea keeps the text, the cursor and the keys. The drawing is our own: colours from Pygments for
the visible rows, marks, and ghost lines that are on the screen but not in the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from rich.segment import Segment
from textual import events, work
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.drawing.code import drawable
from tui.drawing.pacer import Pacer
from tui.drawing.palette import Palette
from tui.keys.key_order import run_key_in_order
from tui.keys.keymap import bindings
from tui.panes.editor.colouring import WHOLE_FILE_BYTES, Colouring, whole
from tui.panes.editor.hunk_in_flight import EMPTY, DocRow, GhostRow, HunkInFlight
from tui.panes.editor.line_drawing import LineLook, draw_ghost, draw_line
from tui.panes.editor.line_ends import hide_line_ends, restore_line_ends
from tui.panes.editor.marks import Marks
from tui.panes.editor.replacement import block_of
from tui.terminal.driver import takes_frames

HANDS_OFF = 4.0
"""For this many seconds after a key in the editor the view does not move by itself."""
SETTLING = 0.3
"""After this many seconds without an edit the whole file is coloured again."""


class EditorPane(TextArea):
    """The editor of one file. :mod:`tui.panes.editor.shown_file` decides which file it is, and saves it."""

    BINDINGS = bindings("editor")

    def __init__(self, palette: Palette, marks: Marks, *, id: str | None = None) -> None:
        self._colouring = Colouring()
        self._overlay = EMPTY
        self._view: list[tuple[DocRow | GhostRow, bool]] = []
        self._shift = 0
        super().__init__(
            id=id, soft_wrap=False, tab_behavior="indent", show_line_numbers=True, max_checkpoints=500
        )
        self.palette = palette
        self.marks = marks
        self.path = ""
        self.flight: HunkInFlight | None = None
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.touched = -HANDS_OFF
        """The time of the last key here, on the monotonic clock."""
        self.on_edited: Callable[[], None] = lambda: None
        self._pacer = Pacer(self._frame, ready=lambda: takes_frames(self.app))
        self._version = 0

    # The text.

    def show(self, path: str, text: str, *, read_only: bool) -> None:
        """Show another file."""
        self.path = path
        self.flight = None
        self._overlay, self._shift = EMPTY, 0
        self.read_only = read_only
        lines = hide_line_ends(text)
        self.indent_type = "tabs" if "\n\t" in lines and "\n    " not in lines else "spaces"
        self.load_text(lines)
        self.scroll_to(0, 0, animate=False)

    @property
    def content(self) -> str:
        """The text to save."""
        return restore_line_ends("\n".join(self.document.lines))

    def load_text(self, text: str) -> None:
        """Replace the whole text, and clear the undo history."""
        super().load_text(text)
        self._colouring.reset(self.path, self.document.line_count)
        self._changed()

    def become(self, text: str) -> tuple[int, int, int] | None:
        """Change the text into ``text`` by one edit of the lines that differ.

        The cursor stays on its line and the view where it was. Returns the first row, the number of rows
        removed and the number of rows added, or None when nothing differs.
        """
        block = block_of(self.document.lines, hide_line_ends(text).split("\n"))
        if block is None:
            return None
        top = self.scroll_offset.y
        self.replace(block.insert, block.start, block.end)
        row, gone, come = block.rows
        if row + gone <= top:
            top += come - gone
        self.scroll_to(y=top, animate=False, force=True)
        return block.rows

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit, the user's or a hunk's, and keep colours and marks in place."""
        top, bottom = edit.top, edit.bottom
        result = super().edit(edit)
        gone, come = bottom[0] - top[0] + 1, result.end_location[0] - top[0] + 1
        if top[1] == 0 and bottom[1] == 0 and result.end_location[1] == 0:
            gone, come = gone - 1, come - 1
        self._follow_edit(top[0], gone, come)
        return result

    def undo(self) -> None:
        """Undo the last typing."""
        self._diffed(super().undo)

    def redo(self) -> None:
        """Redo it."""
        self._diffed(super().redo)

    def _diffed(self, change: Callable[[], None]) -> None:
        before = list(self.document.lines)
        change()
        block = block_of(before, self.document.lines)
        if block is not None:
            self._follow_edit(*block.rows)

    def _follow_edit(self, row: int, gone: int, come: int) -> None:
        self._colouring.edited(row, gone, come)
        self.marks.edited(self.path, row, gone, come)
        self._changed()

    def _changed(self) -> None:
        self._version += 1
        self.on_edited()
        if self.is_mounted:
            self._recolour()
        self._pacer_request()

    @work(group="colour", exclusive=True)
    async def _recolour(self) -> None:
        """Colour the whole file once it has not changed for a moment."""
        await asyncio.sleep(SETTLING)
        version, text = self._version, "\n".join(self.document.lines)
        if len(text) <= WHOLE_FILE_BYTES:
            rows = await asyncio.to_thread(whole, self.path, text)
            if version == self._version:
                self._colouring.settle(rows)
                self.refresh()

    # The hunk in flight.

    def draw_hunk(self, flight: HunkInFlight | None) -> None:
        """Draw this hunk over the text from the next frame on; None removes it."""
        self.flight = flight
        self._pacer_request()

    def flight_moved(self) -> None:
        """The hunk in flight has more lines, or another place."""
        self._pacer_request()

    def drop_pending(self) -> None:
        """Remove the hunk in flight from the screen at once."""
        self._pacer.cancel()
        self.flight = None
        self._frame()

    @property
    def busy(self) -> bool:
        """Whether the user typed here a moment ago, so that the view must not move by itself."""
        return monotonic() - self.touched < HANDS_OFF

    def _pacer_request(self) -> None:
        if self.is_mounted:
            self._pacer.request()

    def _frame(self) -> None:
        if not self.is_mounted:
            return
        flight = self.flight
        self._overlay = EMPTY if flight is None else flight.overlay(self.document.line_count)
        if self._overlay.first is None:
            self._shift = 0
        elif not self.busy:
            self._follow_flight()
        view = self._visible()
        if len(view) != len(self._view):
            self.refresh()
        else:
            changed = [y for y, (was, now) in enumerate(zip(self._view, view, strict=True)) if was != now]
            if changed:
                width = self.size.width
                self.refresh(*(Region(0, y, width, 1) for y in changed))
        self._view = view

    def _visible(self) -> list[tuple[DocRow | GhostRow, bool]]:
        top = self.scroll_offset.y + self._shift
        rows = [self._overlay.at(top + y) for y in range(self.size.height)]
        return [(row, isinstance(row, DocRow) and self._is_landed(row.row)) for row in rows]

    def _is_landed(self, row: int) -> bool:
        return self.marks.at(self.path, row) is not None

    def _follow_flight(self) -> None:
        """Scroll to the line being typed, unless it is in view."""
        height = self.size.height
        top = self.scroll_offset.y + self._shift
        first = self._overlay.view_row(self._overlay.first or 0)
        first = min(first, self._overlay.tail)
        tail = self._overlay.tail
        if not (top <= tail < top + height - 1) or (first < top and tail - first < height - 2):
            top = max(0, first - height // 4)
            if tail >= top + height - 1:
                top = tail - (2 * height) // 3
        scroll = max(0, min(top, self.max_scroll_y))
        if scroll != self.scroll_offset.y:
            self.scroll_to(y=scroll, animate=False, force=True)
        self._shift = max(0, top - scroll)

    def reveal(self, row: int, *, cursor: bool = True) -> None:
        """Scroll to a row, a quarter down the pane, and put the cursor there."""
        height = self.size.height
        if cursor:
            self.move_cursor((min(row, self.document.line_count - 1), 0))
        top = self.scroll_offset.y
        if not top <= row < top + height - 2:
            self.scroll_to(y=max(0, row - height // 4), animate=False, force=True)

    def on_resize(self) -> None:
        """Fit the title to the new width."""
        self.on_edited()

    # Keys and the mouse.

    async def on_key(self, event: events.Key) -> None:
        """Note that the user is here, and run the keys in the order in which they were pressed."""
        self._touch()
        await run_key_in_order(self, event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Remember that the user is here."""
        self._touch()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Remember that the user is here."""
        self._touch()

    def _touch(self) -> None:
        self.touched = monotonic()
        self._shift = 0

    def follow(self) -> None:
        """Let the view follow the hunks again."""
        self.touched = -HANDS_OFF
        self._pacer_request()

    # Drawing.

    @property
    def gutter_width(self) -> int:
        """The width of the gutter: a sign, the line number and a space."""
        return max(3, len(str(self.document.line_count))) + 2

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Colour the visible rows together, then draw them."""
        top = self.scroll_offset.y + self._shift
        rows = [
            row.row for y in range(self.size.height) if isinstance(row := self._overlay.at(top + y), DocRow)
        ]
        if rows:
            self._colouring.prepare(self.document.get_line, rows[0], rows[-1] + 1)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        width = self.scrollable_content_region.width
        number_width = self.gutter_width - 2
        at = self._overlay.at(y + self.scroll_offset.y + self._shift)
        if isinstance(at, GhostRow):
            return draw_ghost(at.spans, self.palette, width, number_width, self.scroll_offset.x)
        if at.row >= self.document.line_count:
            return Strip([Segment(" " * width, self.palette.style("text"))], width)
        line = self.document.get_line(at.row)
        spans = self._colouring.of(at.row)
        current = self.has_focus and self.selection.end[0] == at.row
        look = LineLook(
            number=at.row + 1,
            spans=drawable(spans if spans is not None else [(line, ".text")], self.indent_width),
            removed=at.removed,
            landed=self._is_landed(at.row),
            current=current,
            cursor=self.selection.end[1] if current else None,
            selected=self._selected(at.row, len(line)),
        )
        return draw_line(look, line, self.palette, width, number_width, self.scroll_offset.x)

    def _selected(self, row: int, length: int) -> tuple[int, int] | None:
        """The selected columns of ``row``, one past the end for its line break."""
        start, end = sorted(self.selection)
        if start == end or not start[0] <= row <= end[0]:
            return None
        return (start[1] if row == start[0] else 0, end[1] if row == end[0] else length + 1)
