"""What is told of a hunk's end: the outcome, and the event with each of its fields."""

from __future__ import annotations

import pytest

from edits.hunk import Action, Extent, Guard, Landed, RefusalCode, Refused, Rung, Status
from edits.report import NotReceived
from session.base.events import Event, HunkDropped, HunkHeld, HunkLanded, HunkRedone, HunkRefused, HunkUndone
from session.turn.hunk_life import (
    Question,
    held_event,
    landed_event,
    outcome_event,
    redone_event,
    undone_event,
)

LANDED = Landed(
    "h1", "a\x1b.py", Action.UPDATE, Status.APPLIED, Rung.INDENT, 3, 7, extent=Extent(4, 2, "+ x\x07")
)
MOVED = Landed(
    "h2", "a.py", Action.MOVE, Status.ALREADY_APPLIED, Rung.EXACT, 1, 1, moved_to="b\x1b.py", extent=Extent()
)


@pytest.mark.parametrize(
    ("outcome", "event"),
    [
        (LANDED, HunkLanded("t1", "h1", "a␛.py", "applied", 3, 3, 7, "update", None, 4, 2, "+ x␇")),
        (MOVED, HunkLanded("t1", "h2", "a.py", "already_applied", 1, 1, 1, "move", "b␛.py", 0, 0, "")),
        (
            Refused("h3", "a\x1b.py", RefusalCode.NO_MATCH, "why\x07\nand where"),
            HunkRefused("t1", "h3", "a␛.py", "no_match", "why␇\nand where"),
        ),
        (NotReceived("h4", "a\x1b.py"), HunkDropped("t1", "h4", "a␛.py")),
    ],
)
def test_the_end_of_a_hunk_is_told_with_all_that_is_known(
    outcome: Landed | Refused | NotReceived, event: Event
) -> None:
    assert outcome_event(outcome, "t1") == event
    if not isinstance(outcome, NotReceived):
        assert landed_event(outcome, "t1") == event


@pytest.mark.parametrize("moved", [False, True])
def test_undone_hunks_and_those_that_land_again_are_told_where_they_are(moved: bool) -> None:
    to = "b\x1b.py" if moved else None
    result = Landed("h1", "a\x1b.py", Action.UPDATE, Status.APPLIED, Rung.EXACT, 3, 7, moved_to=to)
    shown = "b␛.py" if moved else None
    assert undone_event(result) == HunkUndone("h1", "a␛.py", 3, 7, shown)
    assert redone_event(result) == HunkRedone("h1", "a␛.py", 3, 7, shown)


def test_a_question_is_told_with_its_first_reason() -> None:
    question = Question("a\x1b.py", "secret", "one\x07\ntwo", frozenset({Guard.SECRET}))
    assert held_event("h1", question, "t1") == HunkHeld("t1", "h1", "a␛.py", "secret", "one␇\ntwo")
