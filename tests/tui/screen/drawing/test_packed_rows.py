"""Packed rows: the same rows in a fraction of the memory."""

from __future__ import annotations

import gc
import sys
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as some

from session.base.storage.unnamed_files import UnnamedFiles
from tests.bench.screen_bench import CODE, PROSE
from tui.chat.transcript.markdown import MarkdownStream
from tui.screen.drawing import packed_rows
from tui.screen.drawing.packed_rows import AT_HAND, PackedRows, Shelf, ShelvedText
from tui.screen.drawing.rows import DRAWN_ONLY, Row

TEXTS = some.text(some.characters(), max_size=12)
ROLES = some.sampled_from(["text", "border", ".keyword", "accent https://example.org/a"])


@some.composite
def rows(draw: some.DrawFn) -> Row:
    spans = draw(some.lists(some.tuples(TEXTS, ROLES), max_size=5))
    return Row(
        spans,
        draw(some.sampled_from(["surface", "panel"])),
        skip=draw(some.sampled_from([0, 2, DRAWN_ONLY])),
        joint=draw(some.sampled_from([None, "", " "])),
        raw=draw(some.none() | TEXTS),
    )


def facts(row: Row) -> tuple[object, ...]:
    return row.text, row.spans, row.fill, row.skip, row.joint, row.raw


@given(
    given=some.lists(rows(), max_size=30),
    start=some.integers(-40, 40),
    end=some.integers(-40, 40),
    on_disk=some.booleans(),
)
def test_packed_rows_are_the_rows(given: list[Row], start: int, end: int, on_disk: bool) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(packed_rows, "_FEW", 1)
        shelf = Shelf()
        if on_disk:
            shelf.begin(UnnamedFiles(Path(folder)))
        packed = PackedRows.of(given, shelf)
        assert len(packed) == len(given)
        assert [facts(row) for row in packed] == [facts(row) for row in given]
        assert [facts(row) for row in packed[start:end]] == [facts(row) for row in given[start:end]]
        assert list(packed) == given and [hash(row) for row in packed] == [hash(row) for row in given]
        if given:
            at = start % len(given)
            assert facts(packed[at]) == facts(packed[at - len(given)]) == facts(given[at])


def test_more_pieces_than_are_at_hand_read_the_same(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.begin(UnnamedFiles(tmp_path))
    many = [
        PackedRows.of([Row([(f"{piece} {number}", "text")]) for number in range(60)], shelf)
        for piece in range(3 * AT_HAND)
    ]
    texts = [ShelvedText(f"text {piece}", shelf) for piece in range(3 * AT_HAND)]
    for piece in (*range(3 * AT_HAND), *range(0, 3 * AT_HAND, 5), *range(AT_HAND), 0, 0):
        assert [row.text for row in many[piece]] == [f"{piece} {number}" for number in range(60)]
        assert texts[piece].read("missing") == f"text {piece}"


def test_there_is_no_row_outside_of_them() -> None:
    packed = PackedRows.of([Row([("one", "text")])])
    for outside in (1, -2):
        with pytest.raises(IndexError):
            packed[outside]


def test_many_roles_and_long_rows_are_kept_whole() -> None:
    spans = [("a" * (1 + number % 3), f"text {number}") for number in range(70_000)]
    assert PackedRows.of([Row(spans), Row(spans[:3])])[0].spans == spans


def test_a_packed_row_takes_little_more_than_its_text() -> None:
    stream = MarkdownStream(100)
    stream.feed((PROSE + CODE) * 40)
    stream.settle(closed=True)
    packed = PackedRows.of(stream.rows)
    assert len(packed) > 500
    assert held(packed) < 90 * len(packed)
    assert held(stream.rows) > 250 * len(packed), "unpacked ones take several times as much"


def held(rows: object) -> int:
    """The bytes that only ``rows`` refer to: texts, numbers and what holds them."""
    seen: dict[int, int] = {}
    waiting = [rows]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, type):
            continue
        seen[id(each)] = sys.getsizeof(each)
        if not isinstance(each, str | bytes | int | array):
            waiting += gc.get_referents(each)
    return sum(seen.values())
