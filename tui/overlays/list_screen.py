"""The base of screens with a list on one side and what is chosen in it on the other."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tui.drawing.pacer import Pacer
from tui.drawing.palette import Palette
from tui.overlays.choices import Choices
from tui.overlays.lines import Lines
from tui.overlays.overlay import Overlay


class ListScreen(Overlay, inherit_bindings=False):
    """Head, list and what is chosen in it, foot. A screen of this kind draws them in ``_draw``."""

    AUTO_FOCUS = ""

    def __init__(self, palette: Palette, pacer: Pacer) -> None:
        """``pacer`` holds back what need not be drawn at once."""
        super().__init__()
        self._palette = palette
        self._pacer = pacer

    def _draw(self) -> None:
        raise NotImplementedError

    def _fit(self) -> None:
        """Draw for the widths that the list and the text beside it have now."""
        self._draw()

    @property
    def columns(self) -> int:
        """The screen's width. Its ``size`` is smaller while Textual lays out a scroll bar."""
        return self.app.size.width

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
