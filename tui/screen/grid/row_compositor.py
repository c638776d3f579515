"""Renders only the rows of the screen that changed.

Textual's compositor renders every row of every widget in the rectangle around all changes. A stream changes
a few rows of the chat and the status line below it: that rectangle is nearly the whole screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_UNTOUCHED: dict[int, Strip | None] = {}


class RowCompositor(Compositor):
    """The compositor of a screen without another screen behind it."""

    def __init__(self, held: Callable[[], bool] = lambda: False) -> None:
        """While ``held`` nothing is rendered; what comes after it is to render everything."""
        super().__init__()
        self._held = held

    def render_update(
        self,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        """What is to be shown; None if nothing is."""
        return None if self._held() else super().render_update(full, screen_stack, simplify)

    def render_partial_update(self) -> ChopsUpdate | None:
        """What changed since the last update; None if nothing did."""
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        screen = self.size.region
        spans = list(self._regions_to_spans(filter(None, map(screen.intersection, regions))))
        if not spans:
            return None
        cuts = self.cuts
        chops = [_UNTOUCHED] * screen.height
        wanted: dict[int, set[int]] = {}
        """The cells, by row, at which a piece begins that nothing has filled yet."""
        for y, first, last in spans:
            if y not in wanted:
                chops[y] = dict.fromkeys(cuts[y][:-1])
                wanted[y] = set()
            wanted[y].update(x for x, end in pairwise(cuts[y]) if x < last and end > first)
        self._fill_wanted(wanted, chops)
        return ChopsUpdate(
            chops, spans, [ends[1:] if row else ends for ends, row in zip(cuts, chops, strict=True)]
        )

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """All pieces of the rows in ``crop``. Textual's own has each strip divide itself, also where it is
        one piece: the strip then knows itself, and each whole screen is left to the garbage collector."""
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for cuts in self.cuts]
        self._fill_wanted({y: set(chops[y]) for y in crop.line_range if is_rendered_line(y)}, chops)
        return cast("Sequence[Mapping[int, Strip]]", chops)

    def _fill_wanted(self, wanted: dict[int, set[int]], chops: list[dict[int, Strip | None]]) -> None:
        """Put what the widgets show, those in front first, where a piece is wanted; empties ``wanted``."""
        for widget, (region, clip) in self.visible_widgets.items():
            if not wanted:
                break
            if shown := region.intersection(clip):
                for rows in _runs(shown, wanted):
                    self._fill(widget, region, rows, wanted, chops)

    def _fill(
        self,
        widget: Widget,
        region: Region,
        rows: Region,
        wanted: dict[int, set[int]],
        chops: list[dict[int, Strip | None]],
    ) -> None:
        """Put what ``widget``, which is at ``region``, shows in ``rows`` where a piece is wanted."""
        strips = widget.render_lines(rows.translate(-region.offset))
        for y, strip in zip(rows.line_range, strips, strict=False):
            places = [cut for cut in self.cuts[y] if rows.x <= cut <= rows.right]
            pieces = [strip] if len(places) == 2 else strip.divide([cut - rows.x for cut in places[1:]])
            row, missing = chops[y], wanted[y]
            for x, piece in zip(places, pieces, strict=False):
                if x in missing:
                    row[x] = piece
                    missing.remove(x)
            if not missing:
                del wanted[y]


def _runs(shown: Region, wanted: dict[int, set[int]]) -> Iterator[Region]:
    """The rows of ``shown`` in which a piece is wanted, those below each other together."""
    x, right = shown.column_span
    start: int | None = None
    for y in range(shown.y, shown.bottom + 1):
        needed = y < shown.bottom and y in wanted and any(x <= at < right for at in wanted[y])
        if needed and start is None:
            start = y
        elif not needed and start is not None:
            yield Region(x, start, shown.width, y - start)
            start = None


def row_screen(classes: Iterable[str] = (), held: Callable[[], bool] = lambda: False) -> Screen[None]:
    """A screen that paints only the rows that changed, and nothing while ``held``."""
    screen: Screen[None] = Screen(id="_default", classes=" ".join(classes))
    screen._compositor = RowCompositor(held)
    return screen
