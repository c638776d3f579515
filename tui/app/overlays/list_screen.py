"""The base of screens with a list on one side and what is chosen in it on the other."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tui.app.overlays.choices import Choices
from tui.app.overlays.lines import Lines
from tui.app.overlays.overlay import Overlay
from tui.screen.drawing.pacer import Pacer
from tui.screen.drawing.palette import Palette

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
        styles = self.query_one("#pieces").styles
        if (styles.height.value if styles.has_rule("height") and styles.height else None) != rows:
            styles.height = rows

    def compose(self) -> ComposeResult:
        """Head, list and text, foot."""
        with Vertical(id="context"):
            yield Lines(self._palette, id="head")
            with Horizontal(id="context-body"):
                for part in (Choices(self._palette, id="pieces"), Lines(self._palette, id="piece")):
                    part.on_sized = lambda: self.call_after_refresh(self._fit)
                    yield part
            yield Lines(self._palette, id="foot")

    def on_unmount(self) -> None:
        """Draw no more."""
        self._pacer.cancel()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self._draw)

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        for lines in self.query(Lines):
            lines.palette = palette
        self._draw()
