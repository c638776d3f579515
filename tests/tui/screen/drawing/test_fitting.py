"""Lines of hints that fit into their width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.screen.drawing.plain import fitting


@given(st.lists(st.text("ab ü字", min_size=1), min_size=1), st.integers(0, 60))
def test_as_many_whole_hints_as_fit(hints: list[str], width: int) -> None:
    kept = fitting(" · ".join(hints), width).split(" · ")
    assert kept == hints[: len(kept)]
    assert len(kept) == 1 or cell_len(" · ".join(kept)) <= width
    assert kept == hints or cell_len(" · ".join(hints[: len(kept) + 1])) > width
