"""How many cells a text takes: as rich says, and without a growing memory of texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some
from rich import cells

from tui.screen.drawing.plain import cell_len


@given(some.text(some.characters() | some.sampled_from("ab ~\t\x7f\x00é字👍🏽\u200d\ufe0f")))
def test_a_text_takes_the_cells_that_rich_says(text: str) -> None:
    assert cell_len(text) == cells.cell_len(text)


def test_texts_that_were_measured_are_not_all_remembered() -> None:
    before = cells.cached_cell_len.cache_info().currsize
    for number in range(5_000):
        assert cell_len(f"▏ line {number}") == len(f"▏ line {number}")
    assert cells.cached_cell_len.cache_info().currsize == before
