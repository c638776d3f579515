"""The list of suggestions: a few lines over the composer, above everything else."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip
from textual.widget import Widget

from tui.drawing.palette import Palette
from tui.drawing.plain import clipped, clipped_left, visible
from tui.drawing.rows import Row, Span

MOST = 8
"""The most lines shown."""
_FILL = "panel"


def rows(texts: Sequence[str], details: Sequence[str], chosen: int, width: int, most: int) -> list[Row]:
    """At most ``most`` suggestions as rows. The ``chosen`` one (-1: none) is among them and has a sign, not
    only a colour; details follow where there is room."""
    first = max(0, min(chosen - most + 1, len(texts) - most))
    longest = max((cell_len(visible(text)) for text in texts), default=0)
    named = min(width - 3, max(longest, 12))
    shown: list[Row] = []
    for at in range(first, min(first + most, len(texts))):
        here = at == chosen
        name = clipped_left(visible(texts[at]), named)
        spans: list[Span] = [(" ❯ " if here else "   ", "accent"), (name, "strong" if here else "text")]
        room = width - 3 - named - 2
        if room >= 8 and details[at]:
            detail = clipped(visible(details[at]), room)
            spans.append((" " * (named - cell_len(name) + 2) + detail, "muted"))
        shown.append(Row(spans, _FILL))
    return shown


class Suggestions(Widget):
    """The list, shown while there are suggestions; Tab in the composer cycles through them."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.texts: Sequence[str] = ()
        self._details: Sequence[str] = ()
        self._chosen = -1
        self._rows: list[Row] = []

    def offer(self, texts: Sequence[str], details: Sequence[str], width: int, room: int, over: int) -> None:
        """Show suggestions in at most ``room`` lines and ``width`` cells, ``over`` lines above the lower
        edge; hide the list where there are none or there is no room."""
        self.texts, self._details = texts, details
        self._chosen = -1
        most = min(MOST, room, len(texts))
        self.display = most > 0
        if most > 0:
            self.styles.height = most
            self.styles.width = width
            self.styles.margin = (0, 0, over, 0)
            self._lay()

    def choose(self, text: str) -> bool:
        """Mark ``text`` in the list; false when it is not in it."""
        if not self.display or text not in self.texts:
            return False
        self._chosen = self.texts.index(text)
        self._lay()
        return True

    def hide(self) -> None:
        """Hide the list."""
        self.texts = ()
        if self.display:
            self.display = False

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def on_resize(self) -> None:
        """Lay out for the new size."""
        self._lay()

    def _lay(self) -> None:
        width, height = self.size
        self._rows = rows(self.texts, self._details, self._chosen, width, height) if height else []
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        row = self._rows[y] if y < len(self._rows) else Row([], _FILL)
        return row.strip(self.palette, self.size.width)
