"""The rows of an answer with folded code blocks. No row is copied, so that folding takes no time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

from tui.chat.transcript.copying import copied
from tui.front.words.hints import unfolds
from tui.screen.drawing.plain import clipped
from tui.screen.drawing.rows import Row, Span


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
