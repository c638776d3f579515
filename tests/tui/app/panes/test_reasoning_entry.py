"""Reasoning that is unfolded while it streams is drawn piece by piece, and reads as drawn at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from session.base.text import pieces
from tui.chat.transcript import entries
from tui.chat.transcript.entries import Reasoning
from tui.screen.drawing.rows import Row

PIECES = some.lists(
    some.one_of(
        some.text("ab \n\té字", min_size=1, max_size=40),
        some.sampled_from(["\n", "a line that is longer than the pane is wide, so that it is wrapped\n"]),
        some.integers(12, 40),  # another width
        some.booleans(),  # fold it, or unfold it
    ),
    max_size=40,
)


def look(rows: list[Row]) -> list[tuple[str, str | None, int]]:
    return [(row.text, row.joint, row.skip) for row in rows]


@given(given=PIECES, unfolded=some.booleans(), most=some.sampled_from([60, 200, 10_000]))
def test_it_reads_as_if_it_were_drawn_at_once(
    given: list[str | int | bool], unfolded: bool, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(entries, "MOST_REASONING", most)
        patched.setattr(pieces, "SHORTEST", 8)
        entry, said, width = Reasoning(unfolded=unfolded), list[str](), 30
        for each in given:
            if isinstance(each, str):
                said.append(each)
                entry.feed(each)
            elif isinstance(each, bool):
                entry.unfolded = each
            else:
                width = each
            entry.settle(width)
        entry.unfolded = True
        entry.settle(width)
        right = Reasoning(unfolded=True)
        for each in said:
            right.feed(each)
        right.settle(width)
        assert look(entry.rows) == look(right.rows)


def test_a_frame_wraps_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    entry, wrapped = Reasoning(unfolded=True), list[str]()
    of_line = entries._wrapped_reasoning

    def counted(line: str, width: int) -> list[Row]:
        wrapped.append(line)
        return of_line(line, width)

    monkeypatch.setattr(entries, "_wrapped_reasoning", counted)
    for number in range(3_000):
        entry.feed(f"thought {number} about it\n")
        entry.settle(60)
    assert len(entry.rows) == 3_001
    assert len(wrapped) == 2 * 3_000, "the line that became whole, and the one behind it"
