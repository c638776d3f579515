"""The reasoning of the model in the conversation."""

from __future__ import annotations

from session.base.text.pieces import Pieces
from tui.chat.transcript.entry import DrawnEntry
from tui.screen.drawing.plain import clipped, untabbed, visible
from tui.screen.drawing.rows import Row, wrap

MOST_REASONING = 200_000
"""Characters of the reasoning that are kept, the newest."""
_LONGEST_SHOWN = 2_000
"""Characters of its unfinished line that are kept to be shown while it is folded."""


class Reasoning(DrawnEntry):
    """The reasoning of the model, as one line that unfolds."""

    def __init__(self, *, unfolded: bool) -> None:
        super().__init__()
        self.unfolded = unfolded
        self.closed = False
        self._text = Pieces(MOST_REASONING)
        self._count = 0
        """The number of its whole lines with text."""
        self._last = self._open = ""
        """The last of them, and the line that is not whole yet."""
        self._drawn: list[Row] = []
        """While it is unfolded: the rows of its whole lines, for ``_drawn_for``."""
        self._undrawn = ""
        """The text behind them."""
        self._drawn_for = (0, 0)
        """The width, and the characters of the beginning that were not kept any more."""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._text.append(text)
        self._undrawn += text if self.unfolded else ""
        *lines, self._open = (self._open + text).split("\n")
        self._open = self._open[:_LONGEST_SHOWN]
        for line in lines:
            if line.strip():
                self._count += 1
                self._last = line
        self.dirty = True

    def draw(self, width: int) -> list[Row]:
        """See :class:`DrawnEntry`."""
        last = self._open if self._open.strip() else self._last
        lines = self._count + bool(self._open.strip())
        count = f"{lines:,} line{'s' if lines != 1 else ''}"
        verb = "thought" if self.closed else "thinking"
        head = f"{'▾' if self.unfolded else '▸'} {verb} · {count}"
        rows = [Row([("  ", "text"), (clipped(head, width - 2), "faint")], skip=2)]
        if self.unfolded:
            return rows + self._unfolded_rows(width)
        self._drawn, self._undrawn, self._drawn_for = [], "", (0, 0)
        if not self.closed and last:
            shown = clipped("    " + visible(untabbed(last.strip())), width)
            rows.append(Row([(shown, "faint")], skip=4))
        return rows

    def _unfolded_rows(self, width: int) -> list[Row]:
        """All its rows. Whole lines are wrapped once, and again only where their beginning or the width is
        another."""
        if self._drawn_for != (width, self._text.gone):
            self._drawn, self._undrawn = [], self._text.text()
            self._drawn_for = width, self._text.gone
        *whole, self._undrawn = self._undrawn.split("\n")
        for line in whole:
            self._drawn += _wrapped(line, width)
        return self._drawn + _wrapped(self._undrawn, width)

    def toggle(self, row: int) -> bool:
        """Unfold it, or fold it."""
        self.unfolded, self.dirty = not self.unfolded, True
        return True


def _wrapped(line: str, width: int) -> list[Row]:
    if not line.strip():
        return []
    spans = [(visible(untabbed(line)), "muted")]
    return wrap(spans, width, first=[("    ", "text")], rest=[("    ", "text")])
