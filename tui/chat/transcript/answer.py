"""A piece of the model's answer in the conversation.

The rows of an answer with folded code blocks. No row is copied, so that folding takes no time.

The text of rows as it is copied: whole lines as they were written, not as they are wrapped and drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from tui.front.keys.keymap import unfolds
from tui.screen.drawing.plain import clipped
from tui.screen.drawing.rows import DRAWN_ONLY, Row, Span

if TYPE_CHECKING:
    from tui.chat.transcript.markdown import DrawnBlocks, Ending, MarkdownStream


Part = tuple[Row | None, int, int | None]
"""A row (None for a blank one between entries), and the characters of it that are copied: the first, and one
past the last, or None up to its end."""


@dataclass(slots=True)
class _Line:
    text: str
    raw: str | None
    whole: bool


def copied(parts: Iterable[Part], *, continued: bool = False) -> str:
    """The text of ``parts``. ``continued`` says that the last line goes on behind them."""
    lines: list[_Line] = []
    open_line: _Line | None = None
    for row, start, end in parts:
        if row is None:
            lines.append(_Line("", None, True))
            open_line = None
            continue
        if row.skip == DRAWN_ONLY:
            continue
        text = row.text
        piece = text[max(start, row.skip) : end]
        whole = start <= row.skip and (end is None or end >= len(text))
        if row.joint is not None and open_line is not None:
            open_line.text += row.joint + piece
            open_line.whole &= whole
        else:
            open_line = _Line(piece, row.raw, whole and (row.joint is None or row.raw is not None))
            lines.append(open_line)
    if continued and lines:
        lines[-1].whole = False
    return "\n".join(line.raw if line.raw is not None and line.whole else line.text for line in lines)


@dataclass(frozen=True, slots=True)
class Fold:
    """Hidden rows, from ``start`` to before ``end``; ``at`` is the place of the row that stands for them."""

    start: int
    end: int
    at: int


class FoldedRows(Sequence[Row]):
    """Rows with folds in them; ``width`` is that of the pane."""

    def __init__(self, rows: Sequence[Row], hidden: Iterable[tuple[int, int]], width: int) -> None:
        """``hidden`` are the first and the end of each stretch of hidden rows, from top to bottom."""
        self._rows, self._width = rows, width
        self._folds: list[Fold] = []
        gone = 0
        for start, end in hidden:
            self._folds.append(Fold(start, end, start - gone))
            gone += end - start - 1
        self._ats = [fold.at for fold in self._folds]
        self._count = len(rows) - gone
        self._heads: dict[int, Row] = {}
        """The rows that stand for folds and were asked for, by the number of the fold."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self._row(number) for number in range(*at.indices(self._count))]
        number = at + self._count if at < 0 else at
        if not 0 <= number < self._count:
            raise IndexError(at)
        return self._row(number)

    def _row(self, number: int) -> Row:
        fold = bisect_right(self._ats, number) - 1
        if fold < 0:
            return self._rows[number]
        known = self._folds[fold]
        if number > known.at:
            return self._rows[known.end + number - known.at - 1]
        if fold not in self._heads:
            self._heads[fold] = self._head(known)
        return self._heads[fold]

    def _head(self, fold: Fold) -> Row:
        more = clipped(f" … {fold.end - fold.start} more rows · {unfolds()}", max(1, self._width - 3))
        spans: list[Span] = [("  ", "text"), ("▏", "border"), (more, "muted")]
        hidden = self._rows[fold.start : fold.end]
        raw = copied([(row, 0, None) for row in hidden])
        return Row(spans, "code_background", joint=hidden[0].joint, raw=raw)


LONG_BLOCK = 30
"""The rows of a code block above which it is folded once the next prompt is sent."""
LONGEST = 32_000
"""Characters from which on an answer goes on in another entry, so that old ones can be dropped."""
_HEAD = 6
"""The rows of a folded block that are shown."""
_STEP = 500
"""Characters that are drawn in one step while the text is wrapped for another width."""


def _stream(width: int, after: Ending | None = None, drawn: DrawnBlocks | None = None) -> MarkdownStream:
    from tui.chat.transcript.markdown import MarkdownStream  # the first frame has no answer

    return MarkdownStream(width, after=after, drawn=drawn)


class Answer:
    """A piece of the answer between two edits; a long one goes on in another, which comes ``after`` it.

    See :class:`tui.chat.transcript.entries.Entry`.
    """

    def __init__(self, after: Answer | None = None) -> None:
        self.tight = after is not None
        self._after = after
        self._begins: Ending | None = None
        """The end of the entry that this one goes on with."""
        self._fed = 0
        self.text = ""
        """The text so far."""
        self.rows: Sequence[Row] = []
        self.dirty = True
        self.closed = False
        self.full = False
        """Whether the text goes on in another entry."""
        self.width = 0
        self._pieces: list[str] = []
        self._stream = _stream(1)
        self._complete = False
        """Whether the stream has all of a complete text."""
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
        """See :class:`tui.chat.transcript.entries.Entry`; it keeps the width that it has."""
        self.dirty = False
        fresh = "".join(self._pieces)
        self._pieces.clear()
        if self._after is not None:
            self._begins, self._after = self._after.ending, None
        if not self.text and self._begins is None:
            fresh = fresh.lstrip("\n")
        self.text += fresh
        same = not self._folded and self.rows is self._stream.rows
        if not self.width or (fresh and self._complete):
            self.width = self.width or width
            self._stream, self._complete = _stream(self.width, self._begins), False
            fresh, same = self.text, False
        first = 0
        if not self._complete:
            self._stream.feed(fresh)
            first = self._end()
        self._show()
        return min(first, len(self.rows)) if same else 0

    def rewrap(self, width: int) -> Iterator[None]:
        """See :class:`tui.chat.transcript.entries.Entry`."""
        stream, drawn = _stream(width, self._begins, self._blocks()), 0
        while piece := self.text[drawn : drawn + _STEP]:
            stream.feed(piece)
            stream.settle()
            drawn += len(piece)
            yield
        self.width, self._stream = width, stream
        self._end()
        self._show()

    def _blocks(self) -> DrawnBlocks:
        """The code blocks that are drawn to their end."""
        from tui.chat.transcript.markdown import DrawnBlocks

        stream = self._stream
        ends = [*stream.block_ends]
        if self._complete and len(ends) < len(stream.block_starts):
            ends.append(len(stream.rows))  # the text ends before the block does
        return DrawnBlocks(stream.rows, list(zip(stream.block_starts, ends, strict=False)))

    def _end(self) -> int:
        """Draw what was fed, and end the stream where nothing more comes; the first row that changed."""
        stream, self._complete = self._stream, self.closed
        first = stream.settle(closed=self.closed)
        if self.closed:
            while not self.full and stream.rows and not stream.rows[-1].spans:
                stream.rows.pop()
            stream.let_go()
        return first

    def _show(self) -> None:
        self.rows = self._stream.rows
        blocks = zip(self._stream.block_starts, self._stream.block_ends, strict=False)
        hidden = [(start + _HEAD, end) for block, (start, end) in enumerate(blocks) if self._hidden(block)]
        if hidden:
            self.rows = FoldedRows(self.rows, hidden, self.width)

    # Folding.

    def toggle(self, row: int) -> bool:
        """Fold the code block at a row, or unfold it; false where there is no long one."""
        for block, (start, end) in enumerate(self._places()):
            if start <= row < end and (self._hidden(block) or self._long(block)):
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
            hidden = self._hidden(block)
            shown = end - hidden + 1 if hidden else end
            places.append((self._stream.block_starts[block] - gone, shown - gone))
            gone += end - shown
        return places

    def _hidden(self, block: int) -> int:
        """The number of rows of a block that are not shown; none where it is too short in this width, and one
        row would stand for one."""
        count = self._stream.block_ends[block] - self._stream.block_starts[block] - _HEAD
        return count if block in self._folded and count > 1 else 0


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
