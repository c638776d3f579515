"""Differences and three-way merges."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from edits.files.diff import changes
from edits.files.merge import merge3
from edits.ledger.undo import carry

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@given(LINES, LINES)
def test_a_diff_turns_the_one_into_the_other(old: list[str], new: list[str]) -> None:
    result = list(old)
    found = changes(old, new)
    for change in reversed(found):
        result[change.start : change.end] = new[change.new_start : change.new_end]
    assert result == new
    assert all(one.end < two.start or one.new_end < two.new_start for one, two in pairwise(found))


@settings(deadline=None)
@given(LINES, LINES)
def test_a_merge_with_an_unchanged_side_is_the_other_side(base: list[str], changed: list[str]) -> None:
    assert merge3(text(base), text(changed), text(base)).text == text(changed)
    assert merge3(text(base), text(base), text(changed)).text == text(changed)
    same = merge3(text(base), text(changed), text(changed))
    assert same.text == text(changed) and not same.conflicts


def test_changes_of_adjacent_lines_are_both_taken() -> None:
    merged = merge3("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n")
    assert merged.text == "A\nB\nc\n" and merged.conflicts == ()
    assert merge3("a\nb\n", "a\nmine\nb\n", "a\nB\n").text == "a\nmine\nB\n"


def test_where_both_changed_the_same_lines_mine_stays_and_is_reported() -> None:
    merged = merge3("a\nb\nc\nd\n", "a\nmine\nc\nd\n", "a\ntheirs\nc\nD\n")
    assert merged.text == "a\nmine\nc\nD\n"
    (conflict,) = merged.conflicts
    assert (conflict.start, conflict.end, conflict.mine, conflict.theirs) == (2, 3, "mine\n", "theirs\n")


def test_insertions_at_one_point_conflict_unless_they_are_the_same() -> None:
    assert merge3("a\nb\n", "a\nx\nb\n", "a\ny\nb\n").conflicts
    assert merge3("a\nb\n", "a\nx\nb\n", "a\nx\nb\n").text == "a\nx\nb\n"


def test_a_long_diff_of_much_repeated_lines_ends_soon() -> None:
    old, new = ["x", "y"] * 4000, ["y", "z"] * 4000
    result = list(old)
    for change in reversed(changes(old, new)):
        result[change.start : change.end] = new[change.new_start : change.new_end]
    assert result == new


def test_spans_are_carried_through_other_changes() -> None:
    assert carry((3, 5), [(0, 0, 2)]) == (5, 7)
    assert carry((3, 5), [(3, 3, 2)]) == (5, 7)
    assert carry((3, 5), [(5, 5, 2)]) == (3, 5)
    assert carry((3, 5), [(0, 2, 0), (4, 4, 1), (9, 10, 0)]) == (1, 4)
    assert carry((3, 5), [(2, 4, 5)]) == (2, 8)
    assert carry((3, 3), [(3, 3, 2)]) == (3, 3)
