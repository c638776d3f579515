"""The lines of a text."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text.lines import TextLines, split_lines


@given(st.text(alphabet="a\n\r ü"), st.slices(6))
def test_lines_are_cut_as_they_are_split(text: str, part: slice) -> None:
    lines, split = TextLines(text), split_lines(text)
    assert [*lines] == split
    assert len(lines) == len(split)
    assert lines[part] == split[part]
    assert [*lines.starts] == [*accumulate((len(line) + 1 for line in split), initial=0)]


def test_there_is_no_line_past_the_last() -> None:
    lines = TextLines("one\ntwo")
    assert lines[-1] == lines[1] == "two"
    with pytest.raises(IndexError):
        lines[2]
