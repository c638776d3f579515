"""The editor pane: the file being edited, with landed hunks marked and the hunk in flight drawn in place.

The text is a :class:`~tui.editor.buffers.buffer.Buffer`. Textual's TextArea keeps the cursor and the keys.
The drawing is our own: colours from Pygments for the visible rows, marks, and ghost lines that are on the
screen but not in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from rich.segment import Segment
from textual import events, work
from textual.document._document import Selection
from textual.document._document_navigator import DocumentNavigator
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tui.editor.buffers.buffer import Buffer
from tui.editor.buffers.history import Selected
from tui.editor.buffers.rows import Rows
from tui.editor.buffers.text_search import Match, in_row
from tui.editor.colouring import Colouring
from tui.editor.document import BufferDocument, UnwrappedDocument
from tui.editor.drawing import (
    AROUND_NUMBER,
    LONG,
    DrawnLines,
    LineLook,
    ScrollBar,
    draw_ghost,
    in_sight,
    selected_part,
)
from tui.editor.keys import CLOSES, Hands, LineEdit, Part, close_block, edit_lines, without_suggestion
from tui.editor.marks import Marks
from tui.editor.signs import Notes
from tui.editor.virtual_lines import EMPTY, NO_GHOST, DocRow, Ghost, GhostRow, HunkInFlight, theirs_drawn
from tui.front.keys.key_order import own_actions, run_key_in_order
from tui.front.keys.keymap import bindings
from tui.screen.drawing.code import drawable
from tui.screen.drawing.framed_lines import FramedLines
from tui.screen.drawing.pacer import stream_pacer
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.rows import Span

HANDS_OFF = 4.0
"""For this many seconds after a key in the editor the view does not move by itself."""


class EditorPane(TextArea):
    """The editor of one file. :mod:`tui.editor.shown_file` decides which file it is, and saves it."""

    BINDINGS = bindings("editor")

    def __init__(self, palette: Palette, marks: Marks, *, id: str | None = None) -> None:
        self._colouring = Colouring()
        self._drawn = DrawnLines()
        self._framed = FramedLines(self)
        self._overlay = EMPTY
        self._view: list[tuple[DocRow | GhostRow, str]] = []
        self._bar = ScrollBar()
        self.old_lines: list[tuple[int, tuple[GhostRow, ...]]] = []
        """What stood in the place of a landed hunk: rows, and what is drawn above them."""
        self._shift = 0
        self._watched: int | None = None
        """The document row of the hunk that the view went after; None where the user moved the view since."""
        self.typing = False
        """Whether the change of the text under way is the user's own edit."""
        self.ghost = NO_GHOST
        self.buffer = Buffer("")
        super().__init__(id=id, soft_wrap=False, tab_behavior="indent", show_line_numbers=True)
        self.palette = palette
        self.marks = marks
        self.notes = Notes()
        self.notes.on_change = self.redraw
        self.flight: HunkInFlight | None = None
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.touched = -HANDS_OFF
        """The time of the last key here, on the monotonic clock."""
        self.on_edited: Callable[[], None] = lambda: None
        self.on_typed: list[Callable[[Rows], None]] = []
        """Called when the user has typed or erased something, with the cursor where it is then."""
        self.on_put: Callable[[], None] = lambda: None
        """Called when the user has put the cursor somewhere, by key or mouse, without typing."""
        self.accept: Callable[[Part], bool] = lambda part: False
        self.hands: Hands | None = None
        """Set once there is a session."""
        self.found: Callable[[], Sequence[Match]] = lambda: ()
        """The matches of a search, in order."""
        self._pacer = stream_pacer(self, self._frame)

    # The text.

    @property
    def path(self) -> str:
        """The file in the editor; empty when there is none."""
        return self.buffer.path

    def show(self, buffer: Buffer) -> None:
        """Show an open file as it was left."""
        self.put_down()
        self.buffer = buffer
        self.old_lines = []
        self.flight = None
        self._overlay, self._shift, self._watched = EMPTY, 0, None
        self.read_only = buffer.read_only
        lines = buffer.lines
        tabs = any(line.startswith("\t") for line in lines[:1000])
        self.indent_type = (
            "tabs" if tabs and not any(line.startswith("    ") for line in lines[:1000]) else "spaces"
        )
        self._set_document("", None)
        self._colouring.reset(buffer.path, len(lines))
        self.choose(buffer.selection)
        self.scroll_to(*buffer.scroll, animate=False, force=True)
        self._changed()

    def find_matching_bracket(self, bracket: str, search_from: tuple[int, int]) -> None:
        """TextArea would look for it through all of a large file, at each key."""

    def put_down(self) -> None:
        """Note in the buffer where cursor and view are."""
        self.buffer.selection = self.selected
        self.buffer.scroll = (self.scroll_offset.x, self.scroll_offset.y + self._shift)

    def _set_document(self, text: str, language: str | None) -> None:
        """Take the buffer's text in place of one that TextArea would keep."""
        self.document = BufferDocument(self.buffer)
        self.wrapped_document = UnwrappedDocument(self.document)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._refresh_size()

    def _refresh_size(self) -> None:
        """Note how far the view can be scrolled. There are no scrollbars, so nothing is laid out again."""
        width, height = self.document.get_size(self.indent_width)
        height += sum(len(theirs_drawn(each)) for each in self.buffer.conflicts)
        height += sum(len(rows) for _, rows in self.old_lines) + len(self.ghost.lines)
        size = type(self.size)(width + self.gutter_width + 1, height)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)

    def edit(self, edit: Edit) -> EditResult:
        """Make an edit of the user's."""
        before = self.selected
        edit.text = edit.text.replace("\r\n", "\n").replace("\r", "\n")
        top, bottom = edit.top[0], edit.bottom[0]
        old = tuple(self.buffer.lines[top : bottom + 1])
        self.typing = True
        try:
            result = edit.do(self)
            rows = Rows(top, old, tuple(self.buffer.lines[top : result.end_location[0] + 1]))
            edit.after(self)
        finally:
            self.typing = False
        if not rows.empty:
            self.buffer.history.typed(rows, before, self.selected, monotonic())
            self.post_message(self.Changed(self))
            for told in self.on_typed:
                told(rows)
        return result

    def rows_changed(self, rows: Rows) -> None:
        """The text of the shown buffer changed, by an edit here or from elsewhere. From elsewhere, the cursor
        stays on its line and the view where it was."""
        document = self.document
        if isinstance(document, BufferDocument):
            document.grew(rows)
        self._colouring.edited(rows.row, len(rows.old), len(rows.new))
        self.old_lines = []
        self._refresh_size()
        if not self.typing:
            top = self.scroll_offset.y
            if rows.row + len(rows.old) <= top:
                top += rows.growth
            self.choose((rows.place(self.selected[0]), rows.place(self.selected[1])))
            self.scroll_to(y=top, animate=False, force=True)
            self.read_only = self.buffer.read_only
        self._changed()

    @property
    def selected(self) -> Selected:
        """Where the selection began, and where the cursor is."""
        return self.selection.start, self.selection.end

    def choose(self, selected: Selected) -> None:
        """Select a part of the text, with the cursor at its end."""
        self.selection = Selection(*selected)

    def action_lines(self, how: LineEdit) -> None:
        """Break a line, indent, dedent or comment lines."""
        if not self.read_only:
            edit_lines(self, self.path, how)

    def action_accept(self, part: Part) -> None:
        """Accept a suggestion or a part of it; without one, indent or move."""
        if not self.accept(part):
            without_suggestion(self, self.path, part)

    def action_to_start(self, select: bool = False) -> None:
        """Go to the start of the file."""
        self.move_cursor((0, 0), select=select)

    def action_to_end(self, select: bool = False) -> None:
        """Go to the end of the file."""
        self.move_cursor(self.document.end, select=select)

    async def action_hand(self, name: str, *argument: object) -> None:
        """Run a method of :class:`~tui.editor.keys.Hands`; Textual passes on one argument."""
        if self.hands is not None:
            await getattr(self.hands, name)(*argument)

    def _changed(self) -> None:
        self.on_edited()
        if self.is_mounted:
            self._recolour()
        self.redraw()

    @work(group="colour", exclusive=True)
    async def _recolour(self) -> None:
        """Colour the whole file once it has not changed for a moment."""
        if await self._colouring.recolour(self.buffer):
            self.refresh()

    # The hunk in flight.

    def draw_hunk(self, flight: HunkInFlight | None) -> None:
        """Draw this hunk over the text from the next frame on; None removes it."""
        self.flight = flight
        self.redraw()

    def suggest(self, ghost: Ghost) -> None:
        """Draw a suggestion from now on."""
        self.ghost = ghost
        self._frame()

    def redraw(self) -> None:
        """What is drawn over the text has changed: the hunk in flight, marks or conflicts."""
        if self.is_mounted:
            self._pacer.request()

    def drop_pending(self) -> None:
        """Remove the hunk in flight from the screen at once."""
        self._pacer.cancel()
        self.flight = None
        self._frame()

    @property
    def busy(self) -> bool:
        """Whether the user typed here a moment ago, so that the view must not move by itself."""
        return monotonic() - self.touched < HANDS_OFF

    def _frame(self) -> None:
        if not self.is_mounted:
            return
        drawn = EMPTY if self.flight is None else self.flight.overlay(self.document.line_count)
        theirs = [(each.end, theirs_drawn(each)) for each in self.buffer.conflicts]
        self._overlay = drawn.also([*theirs, *self.old_lines]).with_ghost(self.ghost)
        if isinstance(self.wrapped_document, UnwrappedDocument):
            self.wrapped_document.overlay = self._overlay
        self._refresh_size()
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

    def _visible(self) -> list[tuple[DocRow | GhostRow, str]]:
        top = self.scroll_offset.y + self._shift
        rows = [self._overlay.at(top + y) for y in range(self.size.height)]
        place = top, self.document.line_count + self._overlay.ghosts, len(rows)
        bar = self._bar.update(place, self.marks.of(self.path), self.notes.of(self.path))
        return [(row, f"{self._sign_of(row)} {cell}") for row, cell in zip(rows, bar, strict=True)]

    def _sign_of(self, row: DocRow | GhostRow) -> str:
        if isinstance(row, GhostRow):
            return row.sign
        landed = "conflict" if self.buffer.conflict_at(row.row) is not None else self._landed(row.row)
        return f"{landed} {self.notes.at(self.path, row.row)} {self.ghost.at(row.row)}"

    def _landed(self, row: int) -> str:
        """What a landed hunk did to a row; empty where none did."""
        mark = self.marks.at(self.path, row)
        return mark.kind if mark is not None else ""

    def _follow_flight(self) -> None:
        """Scroll to the line being typed, unless it is in view."""
        top = self._overlay.top(self.scroll_offset.y + self._shift, self.size.height)
        scroll = max(0, min(top, self.max_scroll_y))
        if scroll != self.scroll_offset.y:
            self.scroll_to(y=scroll, animate=False, force=True)
        self._shift = max(0, top - scroll)
        self._watched = self._overlay.document_row(self._overlay.tail)

    def _go_to_watched(self) -> None:
        """Put the cursor on the hunk that the view went after, where the cursor is out of sight and the user
        did not put it there: what is typed goes where they look."""
        row, self._watched = self._watched, None
        if row is None or self.buffer.placed:
            return
        at = self._overlay.view_row(self.selection.end[0]) - self.scroll_offset.y - self._shift
        if not 0 <= at < self.size.height:
            row = min(row, self.document.line_count - 1)
            self.choose(((row, 0), (row, 0)))

    def reveal(self, row: int, *, cursor: bool = True, last: int | None = None) -> None:
        """Put the cursor on a row, and have the rows up to ``last`` in the middle of the pane, unless they
        are in view."""
        height, top = self.size.height, self.scroll_offset.y
        last = row if last is None else max(row, last)
        if cursor:
            self.choose(((row, 0), (row, 0)))
            self.buffer.placed = False
        if top <= row and last < top + height - 2 and top == self.scroll_offset.y:
            return
        if height:
            self._centre(row, last)
        else:  # it comes into sight with this file
            self.call_after_refresh(self._centre, row, last)

    def _centre(self, row: int, last: int) -> None:
        height = self.size.height
        room = max(0, height - (last - row + 1))
        self.scroll_to(y=max(0, row - max(room // 2, height // 4)), animate=False, force=True)

    def on_resize(self) -> None:
        """Fit the title to the new width."""
        self.on_edited()

    # Keys and the mouse.

    async def on_key(self, event: events.Key) -> None:
        """Note that the user is here, and run the keys in the order in which they were pressed."""
        if event.is_printable or event.key in own_actions(type(self)):
            self._go_to_watched()
            self.buffer.placed = True
        self._touch()
        if event.character in CLOSES and close_block(self, event.character):
            event.stop()
            event.prevent_default()
            return
        selected, version = self.selected, self.buffer.version
        await run_key_in_order(self, event)
        if self.selected != selected and self.buffer.version == version:
            self.on_put()

    def on_mouse_up(self) -> None:
        """The user put the cursor where the mouse was pressed."""
        self.buffer.placed = True
        self.on_put()

    def on_mouse_scroll_up(self) -> None:
        """Remember that the user is here, and moved the view."""
        self._watched = None
        self._touch()

    on_mouse_scroll_down = on_mouse_scroll_up

    def _touch(self) -> None:
        self.touched = monotonic()
        self._shift = 0

    def follow(self) -> None:
        """Let the view follow the hunks again."""
        self.touched = -HANDS_OFF
        self.redraw()

    # Drawing.

    @property
    def gutter_width(self) -> int:
        """The width of the gutter: two signs, the line number and a space."""
        return max(3, len(str(self.document.line_count))) + AROUND_NUMBER

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def beside_chat(self, *, beside: bool) -> None:
        """Whether the chat stands at the right, so that the scroll bar is the line between both."""
        if self._bar.rail != beside:
            self._bar.rail = beside
            self.redraw()
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Colour the visible rows together, then draw them."""
        rows = [row.row for row, _ in self._visible() if isinstance(row, DocRow)]
        if rows:
            self._colouring.prepare(self.document.get_line, rows[0], rows[-1] + 1)
        return self._framed.lines(crop, self.render_line, partial(Widget.render_lines, self))

    def render_line(self, y: int) -> Strip:
        """One line of the pane."""
        return self._bar.beside(self._line, y, self.size.width, self.palette)

    def _drawable(self, spans: Sequence[Span], line: str) -> Sequence[Span]:
        return spans if len(line) > LONG else drawable(spans, self.indent_width)

    def _line(self, y: int, width: int) -> Strip:
        number_width = self.gutter_width - AROUND_NUMBER
        at = self._overlay.at(y + self.scroll_offset.y + self._shift)
        if isinstance(at, GhostRow):
            return draw_ghost(at, self.palette, width, number_width, self.scroll_offset.x)
        if at.row >= self.document.line_count:
            return Strip([Segment(" " * width, self.palette.style("text"))], width)
        line = self.document.get_line(at.row)
        spans = self._colouring.of(at.row)
        current = self.has_focus and self.selection.end[0] == at.row
        look = LineLook(
            number=at.row + 1,
            spans=self._drawable(spans if spans is not None else [(line, ".text")], line),
            removed=at.removed,
            landed=self._landed(at.row),
            conflict=self.buffer.conflict_at(at.row) is not None,
            current=current,
            cursor=self.selection.end[1] if current else None,
            selected=selected_part(self.selected, at.row, len(line)),
            ghost=self.ghost.at(at.row),
            note=self.notes.at(self.path, at.row),
            matches=in_row(self.found(), at.row),
        )
        scroll_x = self.scroll_offset.x
        if len(line) > LONG:
            look, line, scroll_x = in_sight(look, line, scroll_x, width)
        return self._drawn.draw(look, line, self.palette, width, number_width, scroll_x)
