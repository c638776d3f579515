"""A piece of the model's answer in the conversation."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.drawing.packed_rows import PackedRows
from tui.drawing.plain import clipped
from tui.drawing.rows import Row, Span
from tui.panes.chat.copying import copied
from tui.words.hints import unfolds

if TYPE_CHECKING:
    from tui.panes.chat.markdown import Ending, MarkdownStream

LONG_BLOCK = 30
"""The rows of a code block above which it is folded once the next prompt is sent."""
LONGEST = 32_000
"""Characters from which on an answer goes on in another entry, so that old ones can be dropped."""
_PACKED_FROM = 1_000
"""Characters from which on a complete text is kept compressed: it is read only to be copied, or wrapped for
another width."""
_FASTEST = 1
"""zlib's level that takes the least time."""
_HEAD = 6
"""The rows of a folded block that are shown."""


def _stream(width: int, after: Ending | None = None) -> MarkdownStream:
    from tui.panes.chat.markdown import MarkdownStream  # the first frame has no answer

    return MarkdownStream(width, after=after)


class Answer:
    """A piece of the answer between two edits; a long one goes on in another, which comes ``after`` it.

    See :class:`tui.panes.chat.transcript.Entry`.
    """

    def __init__(self, after: Answer | None = None) -> None:
        self.tight = after is not None
        self._after = after
        self._begins: Ending | None = None
        """The end of the entry that this one goes on with."""
        self._fed = 0
        self._text = ""
        self._packed_text = b""
        """The text in zlib's form, once it is complete."""
        self.rows: Sequence[Row] = []
        self.dirty = True
        self.closed = False
        self.full = False
        """Whether the text goes on in another entry."""
        self._pieces: list[str] = []
        self._width = 0
        self._stream = _stream(1)
        self._whole: PackedRows | None = None
        """All its rows, once the text is complete: then the stream has none."""
        self._folded: frozenset[int] = frozenset()
        """The code blocks of which only the head is shown, by their number."""

    def feed(self, text: str) -> str:
        """Add text. Returns what belongs to the entry behind it, once this one is long."""
        end = text.find("\n", max(0, LONGEST - self._fed)) + 1 if self._fed + len(text) > LONGEST else 0
        taken, rest = (text[:end], text[end:]) if end else (text, "")
        self._pieces.append(taken)
        self._fed += len(taken)
        self.full = end > 0
        self.dirty = True
        return rest

    def close(self) -> None:
        """The text is complete."""
        if not self.closed:
            self.closed = self.dirty = True

    def drop_pending(self) -> None:
        """Drop what was never painted: after an interrupt nothing more of the turn appears."""
        self._pieces.clear()

    @property
    def text(self) -> str:
        """The text so far."""
        return (
            zlib.decompress(self._packed_text).decode("utf-8", "surrogatepass")
            if self._packed_text
            else self._text
        )

    @property
    def ending(self) -> Ending:
        """How its text ends, for the entry that goes on with it."""
        return self._stream.ending

    @property
    def goes_on_block(self) -> bool:
        """Whether its first code block began in the entry before it."""
        return self._begins is not None and bool(self._begins.fence)

    @property
    def blocks(self) -> list[str]:
        """The text of its code blocks."""
        return self._stream.blocks

    def settle(self, width: int) -> int:
        """See :class:`tui.panes.chat.transcript.Entry`."""
        self.dirty = False
        fresh = "".join(self._pieces)
        self._pieces.clear()
        if self._after is not None:
            self._begins, self._after = self._after.ending, None
        if not self._text and not self._packed_text and self._begins is None:
            fresh = fresh.lstrip("\n")
        if fresh:
            self._text, self._packed_text = self.text + fresh, b""
        same = not self._folded and self.rows is self._stream.rows
        if width != self._width or (fresh and self._whole is not None):
            self._width, self._stream, self._whole = width, _stream(width, self._begins), None
            fresh, same = self.text, False
        first = self._draw(fresh) if self._whole is None else 0
        self.rows = self._stream.rows if self._whole is None else self._whole
        if self._folded:
            folded = self._with_folds(self.rows)
            self.rows = folded if self._whole is None else PackedRows(folded)
        return min(first, len(self.rows)) if same else 0

    def _draw(self, fresh: str) -> int:
        """Draw what is ``fresh``; returns the first row that may have changed."""
        stream = self._stream
        stream.feed(fresh)
        first = stream.settle(closed=self.closed)
        if self.closed:
            while not self.full and stream.rows and not stream.rows[-1].spans:
                stream.rows.pop()
            self._whole = PackedRows(stream.rows)
            stream.let_go()
            if len(self._text) > _PACKED_FROM:
                self._packed_text, self._text = (
                    zlib.compress(self._text.encode("utf-8", "surrogatepass"), _FASTEST),
                    "",
                )
        return first

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
        wanted = frozenset(block for block in range(len(self._stream.block_ends)) if self._long(block))
        before, self._folded = self._folded, wanted if folded else frozenset()
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

    def _with_folds(self, rows: Sequence[Row]) -> list[Row]:
        shown: list[Row] = []
        at = 0
        for block in sorted(self._folded):
            start, end = self._stream.block_starts[block], self._stream.block_ends[block]
            shown += rows[at : start + _HEAD]
            more = clipped(f" … {end - start - _HEAD} more rows · {unfolds()}", max(1, self._width - 3))
            spans: list[Span] = [("  ", "text"), ("▏", "border"), (more, "muted")]
            hidden = rows[start + _HEAD : end]
            raw = copied([(row, 0, None) for row in hidden])
            shown.append(Row(spans, "code_background", joint=hidden[0].joint, raw=raw))
            at = end
        return [*shown, *rows[at:]]


def whole_text(answers: Sequence[Answer]) -> str:
    """The text of an answer's pieces, in their order: a blank line stands for each edit between them."""
    texts: list[str] = []
    for answer in answers:
        if answer.tight and texts:
            texts[-1] += answer.text
        else:
            texts.append(answer.text)
    return "\n\n".join(text.strip("\n") for text in texts)


def last_block(answers: Sequence[Answer]) -> str:
    """The last code block of these pieces; empty where they have none."""
    code = ""
    for answer in reversed(answers):
        if answer.blocks:
            code = answer.blocks[-1] + code
            if len(answer.blocks) > 1 or not answer.goes_on_block:
                break
    return code
