"""The signs beside lines: their kinds, and the store that moves them with their lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from session.base import events as said
from themes.loader import UI_ROLES
from tui.editor.signs import HunkNotes, Notes, signs


def test_signs_of_a_column_differ_without_colour_and_take_one_cell() -> None:
    shown = [(sign.column, sign.glyph) for sign in signs().values()]
    assert len(set(shown)) == len(shown)
    assert {cell_len(glyph) for _, glyph in shown} == {1}
    assert {sign.role for sign in signs().values()} <= UI_ROLES


def test_the_more_urgent_of_two_notes_is_shown() -> None:
    notes = Notes()
    notes.put("one", "a.py", {3: "refused"})
    notes.put("two", "a.py", {3: "held", 4: "held"})
    assert notes.of("a.py") == {3: "held", 4: "held"}
    notes.clear("two")
    assert notes.of("a.py") == {3: "refused"}


def test_an_unknown_sign_is_named() -> None:
    with pytest.raises(ValueError, match="no sign is called 'frowned'"):
        Notes().put("one", "a.py", {0: "frowned"})


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.data())
def test_notes_stay_beside_their_lines(noted: list[bool], data: st.DataObject) -> None:
    lines: list[object] = [object() for _ in noted]
    notes = Notes()
    rows = {row: "held" for row, here in enumerate(noted) if here}
    notes.put("one", "a.py", rows)
    beside = {id(lines[row]) for row in rows}
    row = data.draw(st.integers(0, len(lines)))
    gone = data.draw(st.integers(0, len(lines) - row))
    come = data.draw(st.integers(0, 4))
    kept = {id(line) for line in (*lines[:row], *lines[row + gone :])}
    lines[row : row + gone] = [object() for _ in range(come)]
    notes.edited("a.py", row, gone, come)
    assert {id(lines[at]) for at in notes.of("a.py") if id(lines[at]) in kept} == beside & kept
    new = [at for at in notes.of("a.py") if id(lines[at]) not in kept]
    assert all(row <= at < row + come for at in new)


@pytest.mark.parametrize("aimed_first", [True, False])
def test_a_held_hunk_is_noted_until_it_is_settled_and_a_refused_one_until_the_next_prompt(
    aimed_first: bool,
) -> None:
    notes = Notes()
    hunks = HunkNotes(notes)
    aimed = said.HunkAimed(turn="t1", hunk="h1", path="a.py", start=3, end=5)
    held = said.HunkHeld(turn="t1", hunk="h1", path="a.py", guard="review", message="a.py asks")
    for event in (aimed, held) if aimed_first else (held, aimed):
        hunks.take(event)
    hunks.take(said.HunkAimed(turn="t1", hunk="h2", path="a.py", start=9, end=9))
    assert notes.of("a.py") == {2: "held", 3: "held"}
    hunks.take(said.HunkRefused(turn="t1", hunk="h1", path="a.py", code="declined", message="no"))
    hunks.take(said.HunkRefused(turn="t1", hunk="h2", path="a.py", code="stale", message="changed"))
    assert notes.of("a.py") == {2: "refused", 8: "refused"}
    hunks.take(said.PromptSubmitted(turn="t2", text="again", kind="prompt"))
    assert notes.of("a.py") == {}
