"""The chat moves by half of the pane when rows come fast, and by a row when they come slowly."""

from __future__ import annotations

import pytest

from tui.screen.drawing.pacer import JumpScroll

HEIGHT = 40


def moves(rows_a_second: float, frames: int) -> int:
    """How often the view moves while that many frames, 30 a second, show new rows."""
    scroll, top, moved = JumpScroll(), 0, 0
    for frame in range(frames):
        rows = HEIGHT + int(frame * rows_a_second / 30)
        if rows > top + HEIGHT:
            top = rows - HEIGHT + scroll.room(rows, HEIGHT, frame / 30)
            moved += 1
    return moved


@pytest.mark.parametrize("rate", [15.0, 30.0, 60.0, 600.0])
def test_fast_rows_move_the_view_seldom(rate: float) -> None:
    """Prose at 1,000 tokens a second is 60 rows a second in a wide pane: two or less in a frame."""
    frames = 300
    assert moves(rate, frames) <= 2 + frames / 30 * rate / (HEIGHT // 2)


def test_slow_rows_move_it_one_by_one() -> None:
    assert moves(4.0, 300) == 4 * 10 - 1


def test_a_pause_makes_it_slow_again() -> None:
    scroll = JumpScroll()
    assert scroll.room(HEIGHT + 1, HEIGHT, 0.0) == 0
    assert scroll.room(HEIGHT + 2, HEIGHT, 0.03) == HEIGHT // 2
    assert scroll.room(HEIGHT + 25, HEIGHT, 60.0) == 0


def test_rows_that_were_let_go_are_no_new_ones() -> None:
    scroll = JumpScroll()
    scroll.room(5_000, HEIGHT, 0.0)
    assert scroll.room(3_000, HEIGHT, 0.01) == 0
