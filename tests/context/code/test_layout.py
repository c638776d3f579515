"""Line ranges of definitions are the same whether they come from the index or from a parser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.code.outline import outline
from context.code.symbols import Symbol, long_definitions, pack_layout, unpack_layout

pytestmark = pytest.mark.xdist_group("grammars")
"""Each worker that outlines all languages would load their grammars and queries, for more than a second."""

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.sample"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_packed_layout_has_the_ranges_of_the_definitions(sample: Path) -> None:
    symbols = long_definitions(
        outline(sample.name.removesuffix(".sample"), sample.read_text("utf-8")).symbols
    )
    bare = tuple(symbol._replace(name="", signature="", doc="") for symbol in symbols)
    assert unpack_layout(pack_layout(symbols)) == bare


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_definitions_around_a_line_are_those_that_it_is_inside_of(sample: Path) -> None:
    text = sample.read_text("utf-8")
    packed = pack_layout(outline(sample.name.removesuffix(".sample"), text).symbols)
    symbols = unpack_layout(packed)
    assert symbols is not None
    for line in range(-1, text.count("\n") + 3):
        around = tuple(symbol for symbol in symbols if symbol.start < line < symbol.end)
        assert unpack_layout(packed, [line]) == around
    assert unpack_layout(packed, []) == ()


@given(st.lists(st.integers(0, 30), max_size=5), st.lists(st.integers(0, 30), min_size=2, max_size=8))
def test_the_definitions_around_several_lines_are_those_around_any(
    lines: list[int], borders: list[int]
) -> None:
    symbols = [
        Symbol("class", "", "", "", min(pair), max(pair) + 2, min(pair), min(pair) + 1)
        for pair in pairwise(borders)
    ]
    expected = tuple(symbol for symbol in symbols if any(symbol.start < line < symbol.end for line in lines))
    assert unpack_layout(pack_layout(symbols), sorted(lines)) == expected


def test_a_file_without_long_definitions_is_known_and_a_damaged_layout_is_not() -> None:
    assert unpack_layout(pack_layout([])) == ()
    assert unpack_layout(b"") is None
    whole = pack_layout([Symbol("class", "A", "class A", "", 3, 9, 4, 5)])
    assert unpack_layout(whole) is not None
    assert unpack_layout(whole[:-1]) is None
    assert unpack_layout(b"\0" + whole[1:]) is None


def test_a_file_of_too_many_lines_is_not_packed() -> None:
    assert pack_layout([Symbol("class", "A", "class A", "", 70_000, 70_009, 70_000, 70_001)]) == b""


@given(st.binary(max_size=60))
def test_no_bytes_give_ranges_that_end_before_they_begin(damaged: bytes) -> None:
    for symbol in unpack_layout(b"\1" + damaged) or ():
        assert symbol.start <= symbol.head < symbol.end


def test_the_samples_have_long_definitions() -> None:
    texts = {path.name.removesuffix(".sample"): path.read_text("utf-8") for path in SAMPLES}
    assert sum(bool(long_definitions(outline(name, text).symbols)) for name, text in texts.items()) > 15
