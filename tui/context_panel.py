"""The context panel: what the model is shown, why, and what was left out; pieces are pinned and taken out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input

from session import events as said
from session.explanation import Explanation
from session.pins import PinError
from tui.context_rows import FILL, Entry, Group, detail, groups, head, list_rows
from tui.keymap import bindings, shown
from tui.pacer import Pacer
from tui.palette import Palette
from tui.panes.rows import Row
from tui.plain import clipped, visible
from tui.port import SessionPort
from tui.screens import FilePicker, Lines

WIDE = 110
"""Columns from which a piece's text stands beside the list."""
LOW = 14
"""Rows below which the hints make room for the list."""
CALM = 0.25
"""Seconds between two windows that are built because something happened."""
NOW, LAST = "to be sent now", "last sent"

CHANGES = (
    said.ContextPinned,
    said.ContextUnpinned,
    said.ContextRemoved,
    said.ContextRestored,
    said.FilesChanged,
    said.FileSaved,
    said.HunkLanded,
    said.HunkUndone,
    said.HunkRedone,
    said.ModelChosen,
    said.ReadingProgress,
    said.TurnStarted,
    said.TurnEnded,
)
"""Events after which the window may be another."""


class Choices(Lines):
    """Lines of which the mouse can choose one."""

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class Turned(Message):
        """The wheel was turned."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def on_click(self, event: events.Click) -> None:
        """Choose."""
        self.post_message(self.Chosen(self.top + event.y))

    def on_mouse_scroll_down(self) -> None:
        """Go on."""
        self.post_message(self.Turned(3))

    def on_mouse_scroll_up(self) -> None:
        """Go back."""
        self.post_message(self.Turned(-3))


class ContextScreen(ModalScreen[str | None], inherit_bindings=False):
    """The panel. Its answer is a file to open in the editor, None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("context")
    AUTO_FOCUS = ""

    def __init__(self, palette: Palette, session: SessionPort, draft: str) -> None:
        """``draft`` is the prompt that the window would be sent with."""
        super().__init__()
        self._palette = palette
        self._session = session
        self._draft = draft
        self._view = NOW
        self._window: Explanation | None = None
        self._groups: list[Group] = []
        self._entries: list[Entry] = []
        self._places: list[int] = []
        self._chosen = 0
        self._query = ""
        self._stale = self._unsorted = False
        self._busy = False
        self._reading = False
        self._pacer = Pacer(self._ask, CALM)

    def compose(self) -> ComposeResult:
        """Head, list and text, filter, foot."""
        with Vertical(id="context"):
            yield Lines(self._palette, id="head")
            with Horizontal(id="context-body"):
                yield Choices(self._palette, id="pieces")
                yield Lines(self._palette, id="piece")
            yield Input(placeholder="letters of a name", id="query")
            yield Lines(self._palette, id="foot")

    def on_mount(self) -> None:
        """Ask for the window, and show what there is meanwhile."""
        query = self.query_one(Input)
        query.cursor_blink = False
        query.display = False
        self._ask()
        self._draw()

    def on_unmount(self) -> None:
        """Ask for nothing more."""
        self._pacer.cancel()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self._draw)

    def take(self, event: said.Event) -> None:
        """Something happened in the session."""
        if isinstance(event, CHANGES):
            self._pacer.request()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        for lines in self.query(Lines):
            lines.palette = palette
        self._draw()

    def back(self) -> bool:
        """Undo one step: the filter, the text in the list's place. False when there is nothing to undo."""
        query = self.query_one(Input)
        if query.display:
            query.value = ""
            query.display = False
            self.set_focus(None)
            self._search("")
            return True
        if self._reading:
            self.action_read()
            return True
        return False

    # The window.

    def _ask(self) -> None:
        self._stale = True
        self._work()

    def _search(self, query: str) -> None:
        self._query = query
        self._chosen = 0
        self._unsorted = True
        self._work()

    def _work(self) -> None:
        if not self._busy and self.is_attached:
            self._busy = True
            self._build()

    @work(group="explain")
    async def _build(self) -> None:
        """Have the window explained and sorted, in threads, until what is shown is what was asked for."""
        try:
            while self._stale or self._unsorted:
                if self._stale:
                    self._stale, view = False, self._view
                    window = await self._session.context.explain(self._draft if view == NOW else None)
                    if view != self._view:
                        continue
                    self._window, self._unsorted = window, True
                self._unsorted, query = False, self._query
                if self._window is not None:
                    pinned = self._session.context.pinned
                    found = await asyncio.to_thread(groups, self._window, pinned, query)
                    if not self._unsorted:
                        self._show(found)
        finally:
            self._busy = False

    def _show(self, found: list[Group]) -> None:
        """Take over a sorted window; the choice stays on what it was on."""
        before = self._entry
        self._groups = found
        self._entries = [entry for group in found for entry in group.entries]
        if before is not None:
            same = [at for at, each in enumerate(self._entries) if each.name == before.name]
            alike = [at for at in same if self._entries[at].group == before.group]
            self._chosen = (alike or same or [self._chosen])[0]
        self._chosen = max(0, min(self._chosen, len(self._entries) - 1))
        self._draw()

    @property
    def _entry(self) -> Entry | None:
        return self._entries[self._chosen] if self._chosen < len(self._entries) else None

    # Drawing.

    def _draw(self, told: str = "", level: str = "muted") -> None:
        if not self.is_attached:
            return
        width, height = self.size
        self.set_class(width >= WIDE, "wide")
        self.set_class(self._reading, "reading")
        top = head(self._window, self._view, width, height)[: max(1, height // 3)]
        foot = self._foot(told, level, width, height)
        for name, rows in (("head", top), ("foot", foot)):
            lines = self.query_one(f"#{name}", Lines)
            if lines.styles.height is None or lines.styles.height.value != len(rows):
                lines.styles.height = len(rows)
            lines.show(rows)
        self.call_after_refresh(self._draw_body)

    def _draw_body(self) -> None:
        if not self.is_attached:
            return
        pieces, piece = self.query_one("#pieces", Choices), self.query_one("#piece", Lines)
        budget = self._window.budget if self._window else 1
        rows, self._places = list_rows(
            self._groups,
            self._chosen,
            pieces.size.width or self.size.width,
            budget,
            ansi=self._palette.theme.ansi,
        )
        if not rows and self._window is not None and not self._window.problem:
            rows = [Row([("  nothing matches" if self._query else "  nothing", "muted")], FILL)]
        keep = self._places[self._chosen] if self._places else 0
        heading = keep - 1 if self._chosen == 0 and keep else keep
        pieces.show(rows, keep=heading)
        entry = self._entry
        piece.top = piece.top if self._reading else 0
        piece.show(
            detail(entry, piece.size.width or self.size.width, budget) if entry else [], keep=piece.top
        )

    def _foot(self, told: str, level: str, width: int, height: int) -> list[Row]:
        entry = self._entry
        at = f"{self._chosen + 1}/{len(self._entries)} " if self._entries else ""
        line = told or (f"{at}{entry.why}" if entry else "")
        rows = [Row([(f" {clipped(visible(line), width - 2)}", level)], FILL)]
        if height >= LOW:
            keys = [
                ("pin", "pin"),
                ("remove", "out"),
                ("add", "add"),
                ("read", "list" if self._reading else "text"),
                ("open", "edit"),
                ("view", "last" if self._view == NOW else "now"),
                ("filter", "find"),
            ]
            hints = " · ".join(f"{shown(action, 'context')} {told}" for action, told in keys)
            rows.append(Row([(f" {clipped(f'{hints} · Esc closes', width - 2)}", "faint")], FILL))
        return rows

    def _say(self, text: str, level: str = "warning") -> None:
        self._draw(text, level)

    # Keys.

    def action_move(self, by: int) -> None:
        """Up or down the list, or the text while that is read."""
        if self._reading:
            self.query_one("#piece", Lines).move(by)
        elif self._entries:
            self._chosen = max(0, min(self._chosen + by, len(self._entries) - 1))
            self._draw()

    def action_page(self, by: int) -> None:
        """A page up or down."""
        lines = self.query_one("#piece" if self._reading else "#pieces", Lines)
        self.action_move(by * max(1, lines.size.height - 2))

    def action_edge(self, by: int) -> None:
        """To the start or the end."""
        self.action_move(by * 1_000_000_000)

    def on_choices_chosen(self, event: Choices.Chosen) -> None:
        """Choose what was clicked."""
        if event.row in self._places:
            self._chosen = self._places.index(event.row)
            self._draw()

    def on_choices_turned(self, event: Choices.Turned) -> None:
        """The wheel moves the choice."""
        self.action_move(event.by)

    def action_view(self) -> None:
        """The other window: now or last."""
        self._view = LAST if self._view == NOW else NOW
        self._ask()

    def action_read(self) -> None:
        """Read the piece's text, or go back to the list."""
        self._reading = not self._reading and self._entry is not None
        self._draw()

    def action_open(self) -> None:
        """Open the file in the editor; of what is no file, read the text."""
        entry = self._entry
        if entry is None:
            return
        if entry.path in self._session.files.list():
            self.dismiss(entry.path)
        elif not self._reading:
            self.action_read()

    def action_pin(self) -> None:
        """Pin the chosen file, or pin it no longer."""
        entry = self._file()
        if entry is not None:
            context = self._session.context
            if entry.pinned:
                self._obey(context.unpin, entry.pinned)
            else:
                self._obey(context.pin, entry.path)

    def action_remove(self) -> None:
        """Take the chosen file out, or put it back."""
        entry = self._file()
        if entry is not None:
            context = self._session.context
            if entry.removed:
                self._obey(context.restore, entry.removed)
            elif entry.path in entry.pinned:
                self._obey(context.unpin, entry.pinned)
            else:
                self._obey(context.remove, entry.path)

    def _file(self) -> Entry | None:
        entry = self._entry
        if entry is not None and not entry.path:
            self._say("only files can be pinned or taken out")
            return None
        return entry

    def _obey(self, command: Callable[[str], None], target: str) -> None:
        try:
            command(target)
        except PinError as problem:
            self._say(str(problem))
            return
        self._ask()

    def action_add(self) -> None:
        """Pick a file to pin."""

        def picked(path: str | None) -> None:
            if path is not None:
                self._obey(self._session.context.pin, path)

        paths = self._session.files.list()
        self.app.push_screen(
            FilePicker(self._palette, paths, "", "Pin a file", "Enter pins · Esc leaves"), picked
        )

    def action_filter(self) -> None:
        """Type letters of a name."""
        query = self.query_one(Input)
        query.display = True
        query.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by what is typed."""
        event.stop()
        if event.value != self._query:
            self._search(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter, and let the keys act on the list again."""
        event.stop()
        self.set_focus(None)
        if not event.value:
            self.query_one(Input).display = False
