"""Sorting long lists, and making sets of them, in parts."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text import sorting
from context.text.sorting import set_in_parts, sorted_in_parts


@given(st.lists(st.tuples(st.integers(-3, 3), st.text("ab", max_size=2))), st.integers(1, 9))
def test_parts_in_order_are_the_whole_in_order(values: list[tuple[int, str]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_LOOKED_AT", 2)
        assert sorted_in_parts(iter(values), most) == sorted(values)


def test_equal_values_keep_their_order() -> None:
    values = [number % 5 + (0 if number % 2 else 0.0) for number in range(40_000)]
    assert [*map(repr, sorted_in_parts(values))] == [*map(repr, sorted(values))]


class Watched(tuple[str, ...]):
    """Refuses to be read as a whole, and notes how many values are taken at once."""

    taken: list[int]

    def __iter__(self) -> NoReturn:
        raise AssertionError("all values are taken in one call")

    def __getitem__(self, which: Any) -> Any:
        found = super().__getitem__(which)
        self.taken.append(len(found))
        return found


def test_a_set_is_made_of_a_few_values_at_a_time() -> None:
    paths = Watched(f"{number % 9_000}.c" for number in range(20_000))
    paths.taken = []
    assert set_in_parts(paths, 6_000) == {f"{number}.c" for number in range(9_000)}
    assert paths.taken == [6_000, 6_000, 6_000, 2_000]
    assert set_in_parts(()) == set()
