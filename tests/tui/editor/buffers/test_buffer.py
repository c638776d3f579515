"""The text of an open file and its history, against plain models."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editor.buffers.history import History
from tui.editor.buffers.rows import Rows, composed, rows_between

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=8)


def after(lines: list[str], rows: Rows) -> list[str]:
    assert rows.fits(lines)
    return [*lines[: rows.row], *rows.new, *lines[rows.row + len(rows.old) :]]


@given(LINES, LINES, LINES)
def test_two_changes_composed_are_both_and_can_be_reversed(
    one: list[str], two: list[str], three: list[str]
) -> None:
    first, second = rows_between(one, two), rows_between(two, three)
    assert after(one, first) == two and after(two, second) == three
    both = composed(first, second, three)
    assert after(one, both) == three
    assert after(three, both.reversed()) == one


@given(st.lists(LINES, min_size=2, max_size=8), st.data())
def test_every_step_is_taken_back_exactly_whatever_undoing_a_hunk_made_of_the_text(
    texts: list[list[str]], data: st.DataObject
) -> None:
    """Hunks and typing in turn. Undoing a hunk may give any text at all, as a merge may."""
    history, lines, shown = History(), texts[0], [texts[0]]
    for number, text in enumerate(texts[1:]):
        rows = rows_between(lines, text)
        if data.draw(st.booleans()):
            history.typed(rows, ((0, 0), (0, 0)), ((0, 0), (0, 0)), float(number * 10))
        else:
            history.came(rows, text, hunk=f"h{number}")
        lines = text
        shown.append(text)
    while (step := history.last) is not None:
        if step.typed:
            lines = after(lines, history.took_back().rows.reversed())
        else:
            text = data.draw(LINES)
            history.expect(step)
            history.came(rows_between(lines, text), text, hunk=step.hunk, undid=True)
            lines = text
        again = history.next
        assert again is not None and again.hunk == step.hunk
    assert history.last is None


@pytest.mark.parametrize("seen", ["told first", "seen first"])
def test_a_hunk_is_a_hunks_step_though_the_change_of_its_file_was_seen_first(seen: str) -> None:
    """The watcher of the project may see a file change before the session tells of the hunk."""
    history = History()
    there = Rows(1, ("b",), ("B",))
    nothing = Rows(0, (), ())
    after, before = ["a", "B"], ["a", "b"]
    if seen == "seen first":
        history.came(there, after)
        history.came(nothing, after, hunk="h1")
    else:
        history.came(there, after, hunk="h1")
        history.came(nothing, after)
    step = history.last
    assert step is not None and (step.hunk, step.undid, step.rows) == ("h1", False, there)
    history.expect(step)
    if seen == "seen first":
        history.came(there.reversed(), before)
        history.came(nothing, before, hunk="h1", undid=True)
    else:
        history.came(there.reversed(), before, hunk="h1", undid=True)
    assert history.last is None and history.next is not None and history.next.hunk == "h1"


NOTHING = Rows(0, (), ())


class Seen:
    """A text and its history. ``early``: the watcher sees each change of a hunk before it is told."""

    def __init__(self, early: bool) -> None:
        self.early = early
        self.history = History()
        self.lines = list("abcdef")

    def came(self, rows: Rows, hunk: str, *, undid: bool = False) -> None:
        self.lines = after(self.lines, rows)
        if self.early:
            self.history.came(rows, self.lines)
            rows = NOTHING
        self.history.came(rows, self.lines, hunk=hunk, undid=undid)

    def do(self, operation: str, row: int, number: int) -> None:
        history = self.history
        rows = Rows(row, (self.lines[row],), (f"{self.lines[row]}{number}",))
        match operation:
            case "land":
                self.came(rows, f"h{number}")
            case "type":
                self.lines = after(self.lines, rows)
                history.typed(rows, ((0, 0), (0, 0)), ((0, 0), (0, 0)), number * 10.0)
            case "undo" if (step := history.last) is not None and step.hunk:
                history.expect(step)
                self.came(step.rows.reversed(), step.hunk, undid=not step.undid)
            case "undo" if history.last is not None:
                self.lines = after(self.lines, history.took_back().rows.reversed())
            case "redo" | "redo in the chat" if (step := history.next) is not None and step.hunk:
                if operation == "redo":
                    history.expect(step)
                self.came(step.rows, step.hunk, undid=step.undid)
            case "redo" if history.next is not None:
                self.lines = after(self.lines, history.made_again().rows)


OPERATIONS = st.sampled_from(["land", "type", "undo", "redo", "redo in the chat"])


@given(st.lists(st.tuples(OPERATIONS, st.integers(0, 5)), max_size=20))
def test_a_change_that_is_seen_before_it_is_told_leaves_the_same_history(
    operations: list[tuple[str, int]],
) -> None:
    early, told = Seen(early=True), Seen(early=False)
    for number, (operation, row) in enumerate(operations):
        early.do(operation, row, number)
        told.do(operation, row, number)
        assert early.lines == told.lines
        assert early.history.last == told.history.last
        assert early.history.next == told.history.next
