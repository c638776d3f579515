"""Sorting long lists in parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text import sorting
from context.text.sorting import sorted_in_parts


@given(st.lists(st.tuples(st.integers(-3, 3), st.text("ab", max_size=2))), st.integers(1, 9))
def test_parts_in_order_are_the_whole_in_order(values: list[tuple[int, str]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_LOOKED_AT", 2)
        assert sorted_in_parts(iter(values), most) == sorted(values)


def test_equal_values_keep_their_order() -> None:
    values = [number % 5 + (0 if number % 2 else 0.0) for number in range(40_000)]
    assert [*map(repr, sorted_in_parts(values))] == [*map(repr, sorted(values))]
