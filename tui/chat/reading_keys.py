"""The keys of the chat for reading: cursor, selection, search, folds, going to turns and hunks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import Protocol

from textual import events

from tui.chat.read_view import ReadView
from tui.chat.transcript.entries import CallEntry, HunkEntry
from tui.chat.transcript.transcript import Prompt

LIVE_ROWS = 20_000
"""Rows up to which a search follows each letter; in a longer conversation it waits for Enter."""


class ChatHands(Protocol):
    """What the chat's keys do beyond the chat. Implemented by the app."""

    def copy(self, text: str) -> None:
        """Copy a text."""

    def say(self, text: str) -> None:
        """Tell the user something in one line."""

    def go_to_hunk(self, hunk: str) -> None:
        """Show a hunk in its file."""

    def output(self, call: str, shown: Callable[[str], None]) -> None:
        """Give ``shown`` the whole output of a call or command, or tell that it is not kept."""


class ReadingKeys:
    """One method for each ``read`` action of the keys."""

    def __init__(self, view: ReadView) -> None:
        self._view = view
        self._reading = view.reading
        self.hands: ChatHands | None = None
        """Set once there is a session."""
        self.typing = False
        """Whether the keys type the text that is searched for."""

    # The cursor.

    def move(self, rows: int) -> None:
        """Move the cursor, or scroll where there is none."""
        if self._reading.cursor is None:
            self._view.scroll_rows_by(rows)
        else:
            self._reading.move(rows)
            self._view.reveal_cursor()

    def aside(self, columns: int) -> None:
        """Move the cursor by characters."""
        self._reading.move(0, columns)
        self._view.reveal_cursor()

    def edge(self, end: bool) -> None:
        """Move the cursor to the start or the end of its row."""
        self.aside(1_000_000 if end else -1_000_000)

    def hunk(self, step: int) -> None:
        """Put the cursor on the next (1) or previous (-1) hunk, or call."""
        self._go(HunkEntry | CallEntry, step, "no hunk or call")

    def turn(self, step: int) -> None:
        """Put the cursor on the next (1) or previous (-1) prompt."""
        self._go(Prompt, step, "no prompt")

    def _go(self, kind: type | UnionType, step: int, nothing: str) -> None:
        view = self._view
        spot = self._reading.neighbour(kind, step, view.top if not view.following else view.transcript.total)
        if spot is None:
            self._say(f"{nothing} {'below' if step > 0 else 'above'}")
            return
        self._reading.cursor = spot
        view.reveal_cursor(first=kind is Prompt)

    # Selecting and copying.

    def select(self, by_lines: bool = False) -> None:
        """Begin a selection at the cursor, or end it."""
        reading = self._reading
        if reading.anchor is not None and reading.by_lines == by_lines:
            reading.anchor = None
        else:
            self._place()
            reading.by_lines = by_lines
            if reading.anchor is None:
                reading.anchor = reading.cursor
        self._view.reveal_cursor()

    def extend(self, rows: int) -> None:
        """Begin a selection if there is none, and move its end by rows."""
        self._extend(rows, 0)

    def extend_aside(self, columns: int) -> None:
        """Begin a selection if there is none, and move its end by characters."""
        self._extend(0, columns)

    def _extend(self, rows: int, columns: int) -> None:
        if self._reading.anchor is None:
            self.select()
        self._reading.move(rows, columns)
        self._view.reveal_cursor()

    def copy(self) -> None:
        """Copy the selection, else the line at the cursor."""
        text = self._reading.text()
        if not text:
            self._say("select something first: v, Shift with the arrows, or the mouse")
        elif self.hands is not None:
            self.hands.copy(text)
            self._reading.anchor = None
            self._view.refresh()

    def _place(self) -> None:
        """Have a cursor: on the last row in sight where there is none."""
        view = self._view
        if self._reading.point(self._reading.cursor) is None:
            self._reading.cursor = self._reading.spot(view.top + max(0, view.size.height - 1))

    # Hunks and folds.

    def enter(self) -> None:
        """Show the hunk at the cursor in its file; unfold or fold anything else, such as a call's output."""
        cursor = self._reading.cursor
        if cursor is not None and isinstance(cursor.entry, HunkEntry) and self.hands is not None:
            self.hands.go_to_hunk(cursor.entry.hunk)
        elif cursor is not None:
            self.fold()
        else:
            self._say("[ and ] choose a hunk or a call, Enter shows it")

    def fold(self) -> None:
        """Unfold or fold what is at the cursor."""
        self._place()
        cursor = self._reading.cursor
        entry = cursor.entry if cursor is not None else None
        if isinstance(entry, CallEntry) and not entry.unfolded and self.hands is not None:
            self.hands.output(entry.name, partial(self._unfold, entry))
            return
        toggle = getattr(cursor.entry, "toggle", None) if cursor is not None else None
        if cursor is None or toggle is None or not toggle(cursor.row):
            self._say("nothing to fold or unfold here")
            return
        self._settle()

    def _unfold(self, entry: CallEntry, text: str) -> None:
        entry.unfold(text)
        self._settle()

    def _settle(self) -> None:
        self._reading.anchor = None
        self._view.settle_now()
        self._view.reveal_cursor()

    def fold_all(self) -> None:
        """Fold all long blocks, or unfold them where none can be folded."""
        if not self._view.fold_blocks(folded=True):
            self._view.fold_blocks(folded=False)

    # The search.

    def search(self) -> None:
        """Begin to type what is searched for."""
        self._view.fold_blocks(folded=False)
        self.typing = True
        self._reading.search("")
        self._view.refresh()

    def find(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match."""
        if not self._reading.query:
            self._say("no search yet: / begins one")
            return
        self._find(step)

    def _find(self, step: int, *, here: bool = False) -> None:
        view = self._view
        round_the_end = self._reading.find(step, view.top, here=here)
        if round_the_end is None:
            self._say(f"{self._reading.query} is not in the conversation")
        elif round_the_end and not here:
            self._say(f"from the {'start' if step > 0 else 'end'} again")
        view.reveal_cursor()

    def take(self, event: events.Key) -> bool:
        """Take a key as part of the text that is searched for; false where it is none."""
        if not self.typing:
            return False
        query = self._reading.query
        if event.key == "enter":
            self.typing = False
            self._find(1, here=True) if query else None
        elif event.key in ("backspace", "ctrl+h"):
            self._typed(query[:-1])
        elif event.key == "ctrl+u":
            self._typed("")
        elif event.is_printable and event.character is not None:
            self._typed(query + event.character)
        else:
            self.typing = False
            return False
        self._view.refresh()
        return True

    def paste(self, text: str) -> None:
        """Add pasted letters to what is searched for."""
        if self.typing:
            self._typed(self._reading.query + "".join(each for each in text if each.isprintable()))

    def _typed(self, query: str) -> None:
        self._reading.search(query)
        live = query and self._view.transcript.total <= LIVE_ROWS
        if live and self._reading.find(1, self._view.top, here=True) is not None:
            self._view.reveal_cursor()
        self._view.refresh()

    @property
    def line(self) -> str:
        """What the last line of the pane says of the search or the selection; empty without either."""
        reading = self._reading
        if self.typing:
            return f"/{reading.query}▏ Enter keeps it, then n and N · Esc clears"
        if reading.selected is not None:
            (first, _), (last, _) = reading.selected
            count = last - first + 1
            return f"{count} row{'s' if count > 1 else ''} selected · y copies · Esc ends"
        if reading.query:
            return f"/{reading.query} · n next · N previous · Esc clears"
        return ""

    @property
    def in_use(self) -> bool:
        """Whether there is a search, a selection or a cursor."""
        reading = self._reading
        return self.typing or bool(reading.query) or reading.cursor is not None

    def let_go(self) -> bool:
        """End the search, the selection or the cursor; false where there is none of them."""
        if self.typing:
            self.typing = False
            self._reading.search("")
        elif not self._reading.let_go():
            return False
        self._view.refresh()
        return True

    def _say(self, text: str) -> None:
        if self.hands is not None:
            self.hands.say(text)
