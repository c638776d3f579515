"""A piece of the model's answer in the conversation."""

from __future__ import annotations

from tui.drawing.plain import clipped
from tui.drawing.rows import Row, Span
from tui.panes.chat.copying import copied
from tui.panes.chat.markdown import MarkdownStream

LONG_BLOCK = 30
"""The rows of a code block above which it is folded once the next prompt is sent."""
_HEAD = 6
"""The rows of a folded block that are shown."""


class Answer:
    """A piece of the answer between two edits. See :class:`tui.panes.chat.transcript.Entry`."""

    tight = False

    def __init__(self) -> None:
        self.text = ""
        self.rows: list[Row] = []
        self.dirty = True
        self.closed = False
        self._pieces: list[str] = []
        self._width = 0
        self._stream = MarkdownStream(1)
        self._folded: set[int] = set()
        """The code blocks of which only the head is shown, by their number."""

    def feed(self, text: str) -> None:
        """Add text."""
        self._pieces.append(text)
        self.dirty = True

    def close(self) -> None:
        """The text is complete."""
        if not self.closed:
            self.closed = self.dirty = True

    def drop_pending(self) -> None:
        """Drop what was never painted: after an interrupt nothing more of the turn appears."""
        self._pieces.clear()

    @property
    def blocks(self) -> list[str]:
        """The text of its code blocks."""
        return self._stream.blocks

    def settle(self, width: int) -> int:
        """See :class:`tui.panes.chat.transcript.Entry`."""
        self.dirty = False
        fresh = "".join(self._pieces)
        self._pieces.clear()
        if not self.text:
            fresh = fresh.lstrip("\n")
        self.text += fresh
        first = 0
        if width != self._width:
            self._width, self._stream = width, MarkdownStream(width)
            self._stream.feed(self.text)
            self._stream.settle(closed=self.closed)
        else:
            self._stream.feed(fresh)
            first = self._stream.settle(closed=self.closed)
        rows = self._stream.rows
        while self.closed and rows and not rows[-1].spans:
            rows.pop()
        unfolded = not self._folded and self.rows is rows
        self.rows = self._with_folds(rows) if self._folded else rows
        return min(first, len(self.rows)) if unfolded else 0

    # Folding.

    def toggle(self, row: int) -> bool:
        """Fold the code block at a row, or unfold it; false where there is no long one."""
        for block, (start, end) in enumerate(self._places()):
            if start <= row < end and self._long(block):
                self._folded ^= {block}
                self.dirty = True
                return True
        return False

    def fold(self, *, folded: bool) -> bool:
        """Fold or unfold all long code blocks; whether that changes anything."""
        wanted = {block for block in range(len(self._stream.block_ends)) if self._long(block)}
        before, self._folded = self._folded, wanted if folded else set()
        changed = before != self._folded
        self.dirty = self.dirty or changed
        return changed

    def _long(self, block: int) -> bool:
        ends = self._stream.block_ends
        return block < len(ends) and ends[block] - self._stream.block_starts[block] > LONG_BLOCK

    def _places(self) -> list[tuple[int, int]]:
        """The rows of each finished code block, as they are shown."""
        places, gone = [], 0
        for block, end in enumerate(self._stream.block_ends):
            start = self._stream.block_starts[block]
            hidden = end - start - _HEAD - 1 if block in self._folded else 0
            places.append((start - gone, end - gone - hidden))
            gone += hidden
        return places

    def _with_folds(self, rows: list[Row]) -> list[Row]:
        shown: list[Row] = []
        at = 0
        for block in sorted(self._folded):
            start, end = self._stream.block_starts[block], self._stream.block_ends[block]
            shown += rows[at : start + _HEAD]
            more = clipped(f" … {end - start - _HEAD} more rows · o unfolds", max(1, self._width - 3))
            spans: list[Span] = [("  ", "text"), ("▏", "border"), (more, "muted")]
            hidden = rows[start + _HEAD : end]
            raw = copied([(row, 0, None) for row in hidden])
            shown.append(Row(spans, "code_background", joint=hidden[0].joint, raw=raw))
            at = end
        return shown + rows[at:]
