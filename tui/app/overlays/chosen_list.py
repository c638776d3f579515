"""The base of screens that list things of one kind, of which one is chosen and shown beside the list.

The base of screens with a list on one side and what is chosen in it on the other.

Rows that can be chosen by a click and scrolled through by the wheel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message

from tui.app.overlays.overlay import Lines, Overlay
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette


class Choices(Lines):
    """Lines that the mouse can choose from."""

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
        """Report the clicked row."""
        self.post_message(self.Chosen(self.top + event.y))

    def on_mouse_scroll_down(self) -> None:
        """Report a turn down."""
        self.post_message(self.Turned(3))

    def on_mouse_scroll_up(self) -> None:
        """Report a turn up."""
        self.post_message(self.Turned(-3))


TALL = 20
"""Rows from which what is chosen stands below the list, where both are too wide to stand side by side."""


class ListScreen(Overlay, inherit_bindings=False):
    """Head, list and what is chosen in it, foot. A screen of this kind draws them in ``_draw``."""

    AUTO_FOCUS = ""
    WIDE = 100
    """Columns from which what is chosen stands beside the list."""

    def __init__(self, palette: Palette, pacer: Pacer) -> None:
        """``pacer`` holds back what need not be drawn at once."""
        super().__init__()
        self._palette = palette
        self._pacer = pacer
        # Kept here: a screen may be drawn before its parts are on it, and after they have left it.
        self._head = Lines(palette, id="head")
        self._pieces = Choices(palette, id="pieces")
        self._piece = Lines(palette, id="piece")
        self._foot = Lines(palette, id="foot")
        self._reading = False
        """Whether what is chosen stands in the list's place, or its keys scroll it."""

    def _draw(self) -> None:
        raise NotImplementedError

    def _fit(self) -> None:
        """Draw for the widths that the list and the text beside it have now."""
        self._draw()

    @property
    def columns(self) -> int:
        """The screen's width. Its ``size`` is smaller while Textual lays out a scroll bar."""
        return self.app.size.width

    def _arrange(self, listed: int) -> None:
        """Put what is chosen beside the list of ``listed`` rows, below it, or in its place."""
        height = self.app.size.height
        wide = self.columns >= self.WIDE
        below = not (wide or self._reading) and height >= TALL
        self.set_class(wide, "wide")
        self.set_class(below, "below")
        self.set_class(self._reading, "reading")
        rows = max(1, min(listed, height // 3)) if below else None
        styles = self._pieces.styles
        if (styles.height.value if styles.has_rule("height") and styles.height else None) != rows:
            styles.height = rows

    def compose(self) -> ComposeResult:
        """Head, list and text, foot."""
        with Vertical(id="context"):
            yield self._head
            with Horizontal(id="context-body"):
                for part in (self._pieces, self._piece):
                    part.on_sized = lambda: self.call_after_refresh(self._fit)
                    yield part
            yield self._foot

    def on_unmount(self) -> None:
        """Draw no more."""
        self._pacer.cancel()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self._draw)

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        for lines in (self._head, self._pieces, self._piece, self._foot):
            lines.palette = palette
        self._draw()


T = TypeVar("T")


class ChosenList(ListScreen, Generic[T], inherit_bindings=False):
    """Keys, clicks and the wheel move the choice, one row for each thing."""

    def __init__(self, palette: Palette, pacer: Pacer) -> None:
        """See :class:`ListScreen`."""
        super().__init__(palette, pacer)
        self._listed: list[T] = []
        self._chosen = 0
        """The row that is chosen."""

    @property
    def _each(self) -> T | None:
        """What is chosen; None in an empty list."""
        return self._listed[self._chosen] if self._chosen < len(self._listed) else None

    def _list(self, listed: Sequence[T]) -> None:
        """List what there is now. What was chosen stays chosen, or else what has come into its row."""
        before = self._each
        self._listed = list(listed)
        if before is not None and before in self._listed:
            self._chosen = self._listed.index(before)
        self._choose(self._chosen)

    def _choose(self, row: int) -> None:
        self._chosen = max(0, min(row, len(self._listed) - 1))

    def action_move(self, by: int) -> None:
        """Move the choice, or scroll what is chosen while it is read."""
        if self._reading:
            self._piece.move(by)
        else:
            self._choose(self._chosen + by)
            self._draw()

    def action_read(self) -> None:
        """Read what is chosen in the list's place, where both do not fit side by side."""
        self._reading = not self._reading
        self._draw()

    def on_choices_chosen(self, event: Choices.Chosen) -> None:
        """Choose what was clicked."""
        self._choose(event.row)
        self._draw()

    def on_choices_turned(self, event: Choices.Turned) -> None:
        """The wheel moves the choice."""
        self.action_move(event.by)
