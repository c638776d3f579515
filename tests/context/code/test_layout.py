"""Line ranges of definitions are the same whether they come from the index or from a parser."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.code.layout import long_definitions, pack_layout, unpack_layout
from context.code.outline import outline
from context.code.symbols import Symbol

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.sample"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_packed_layout_has_the_ranges_of_the_definitions(sample: Path) -> None:
    symbols = long_definitions(
        outline(sample.name.removesuffix(".sample"), sample.read_text("utf-8")).symbols
    )
    bare = tuple(symbol._replace(name="", signature="", doc="") for symbol in symbols)
    assert unpack_layout(pack_layout(symbols)) == bare


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
