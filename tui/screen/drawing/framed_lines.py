"""Draws the lines of a pane with its border, and keeps those that did not change.

Textual takes four times as long for a line: it knows nothing of what a pane is without. And it asks for all
lines of a pane when a key changes one of them, or the title: a line that is drawn as before is given as the
same object, which costs nothing more on its way to the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from textual.color import Color
from textual.dom import DOMNode
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size, Spacing
from textual.strip import Strip

from tui.screen.drawing.palette import Palette
from tui.screen.terminal.frames import style_version


class FramedView(Protocol):
    """A pane with nothing around its lines but a border at the top."""

    palette: Palette

    @property
    def size(self) -> Size: ...  # noqa: D102
    @property
    def gutter(self) -> Spacing: ...  # noqa: D102
    @property
    def background_colors(self) -> tuple[Color, Color]: ...  # noqa: D102
    @property
    def ancestors_with_self(self) -> list[DOMNode]: ...  # noqa: D102
    def get_line_filters(self) -> Sequence[LineFilter]: ...  # noqa: D102


class FramedLines:
    """The lines of one pane as they were drawn last."""

    def __init__(self, view: FramedView) -> None:
        self._view = view
        self._look: tuple[tuple[LineFilter, ...], list[int]] | None = None
        """What changes the drawing of every line: the filters, and what the background comes from."""
        self._background = Color(0, 0, 0)
        self._drawn: dict[int, tuple[Strip, Strip]] = {}
        """By line: what was given for it, and what that became."""

    def lines(
        self, crop: Region, line: Callable[[int], Strip], framed: Callable[[Region], list[Strip]]
    ) -> list[Strip]:
        """The lines of ``crop``, border included. ``line`` draws one inside of the border, ``framed`` has
        Textual draw what is none."""
        view = self._view
        gutter, size = view.gutter, view.size
        top = gutter.top
        if crop.column_span != (0, size.width) or gutter.totals != (0, top):
            return framed(crop)
        look = self._filters(), [style_version(node) for node in view.ancestors_with_self]
        if look != self._look or len(self._drawn) > size.height:
            self._look, self._background = look, view.background_colors[1]
            self._drawn.clear()
        strips = framed(crop.crop_size((crop.width, top - crop.y))) if crop.y < top else []
        for y in range(max(crop.y, top), crop.bottom):
            plain = line(y - top)
            if not look[0]:
                strips.append(plain)
                continue
            known = self._drawn.get(y)
            if known is None or known[0] is not plain:
                strip = plain
                for each in look[0]:
                    strip = strip.apply_filter(each, self._background)
                known = self._drawn[y] = plain, strip
            strips.append(known[1])
        return strips

    def _filters(self) -> tuple[LineFilter, ...]:
        """Textual's filters, but for the one that would change nothing."""
        filters, truecolor = self._view.get_line_filters(), self._view.palette.is_truecolor
        return tuple(each for each in filters if not (truecolor and isinstance(each, ANSIToTruecolor)))
