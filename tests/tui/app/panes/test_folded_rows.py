"""Folded rows are those around what is hidden, and one that stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tui.chat.transcript.answer import FoldedRows
from tui.screen.drawing.rows import Row


class Asked(Sequence[Row]):
    """Rows that know how many of them were asked for."""

    def __init__(self, count: int) -> None:
        self._total = count
        self.asked = list[int]()

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(self._total))]
        self.asked.append(at)
        return Row([(f"row {at}", "text")])


@given(
    pieces=some.lists(some.tuples(some.integers(0, 5), some.integers(2, 6)), max_size=8),
    rest=some.integers(0, 5),
    start=some.integers(-60, 60),
    end=some.integers(-60, 60),
)
def test_they_read_as_rows_that_were_copied(
    pieces: list[tuple[int, int]], rest: int, start: int, end: int
) -> None:
    hidden, expected, at = [], list[str](), 0
    for shown, gone in pieces:
        expected += [f"row {number}" for number in range(at, at + shown)]
        expected.append(f"  ▏ … {gone} more rows · o unfolds")
        hidden.append((at + shown, at + shown + gone))
        at += shown + gone
    expected += [f"row {number}" for number in range(at, at + rest)]
    folded = FoldedRows(Asked(at + rest), hidden, 80)
    assert len(folded) == len(expected)
    assert [row.text for row in folded] == expected
    assert [row.text for row in folded[start:end]] == expected[start:end]
    for number in range(-len(expected), len(expected)):
        assert folded[number].text == expected[number]
    for (first, last), row in zip(hidden, (row for row in folded if "more rows" in row.text), strict=True):
        assert row.raw == "\n".join(f"row {number}" for number in range(first, last))


def test_folding_asks_for_no_row() -> None:
    rows = Asked(100_000)
    folded = FoldedRows(rows, [(10, 50_000), (50_010, 99_990)], 80)
    assert len(folded) == 10 + 1 + 10 + 1 + 10
    assert folded[-1].text == "row 99999" and rows.asked == [99_999]


def test_there_is_no_row_outside_of_them() -> None:
    folded = FoldedRows(Asked(9), [(2, 6)], 80)
    for outside in (6, -7):
        with pytest.raises(IndexError):
            folded[outside]
