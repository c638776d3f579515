"""The history of a file's lines, as tables: changes one after the other, and what is known of a hunk then."""

from __future__ import annotations

import pytest

from edits.ledger.lineage import Lineage, Site

Step = tuple[str | None, bool, int, str, str]
"""The hunk (None for somebody else), whether it lands, the first line, and the old and new lines' letters."""


def lines(letters: str) -> tuple[str, ...]:
    return tuple(f"{letter}\n" for letter in letters)


def lineage(*steps: Step | list[Step]) -> Lineage:
    """The history of some changes; a list is one change with several places."""
    made = Lineage()
    for step in steps:
        parts = step if isinstance(step, list) else [step]
        made.change(parts[0][0], parts[0][1], [(at, lines(old), lines(new)) for _, _, at, old, new in parts])
    return made


def land(hunk: str | None, at: int, old: str, new: str) -> Step:
    return (hunk, True, at, old, new)


def undo(hunk: str, at: int, old: str, new: str) -> Step:
    return (hunk, False, at, old, new)


@pytest.mark.parametrize(
    ("steps", "undone", "extent"),
    [
        ([land("h1", 1, "b", "B")], [(1, "B", "b")], (1, 2)),
        ([land("h1", 1, "b", "")], [(1, "", "b")], (1, 1)),
        ([land("h1", 1, "", "xy")], [(1, "xy", "")], (1, 3)),
        ([land("h1", 1, "bc", "x"), land("h2", 0, "", "top")], [(4, "x", "bc")], (4, 5)),
        ([land("h1", 3, "d", "D"), land("h2", 0, "ab", "")], [(1, "D", "d")], (1, 2)),
        ([land("h1", 3, "d", "D"), land("h2", 5, "f", "")], [(3, "D", "d")], (3, 4)),
        ([[land("h1", 0, "a", "A"), land("h1", 4, "e", "")]], [(0, "A", "a"), (4, "", "e")], (0, 4)),
        # Another hunk took its line, or put one between its lines.
        ([land("h1", 1, "b", "B"), land("h2", 1, "B", "C")], None, (1, 1)),
        ([land("h1", 1, "", "xy"), land("h2", 2, "", "m")], None, (1, 4)),
        ([land("h1", 1, "", "xy"), land("h2", 1, "", "m")], [(2, "xy", "")], (2, 4)),
        ([land("h1", 1, "", "xy"), land("h2", 3, "", "m")], [(1, "xy", "")], (1, 3)),
        # Somebody else did.
        ([land("h1", 1, "b", "B"), land(None, 1, "B", "C")], None, (1, 1)),
        ([land("h1", 1, "b", "B"), land(None, 0, "", "mine")], [(5, "B", "b")], (5, 6)),
        # The other hunk is undone again.
        (
            [land("h1", 1, "b", "B"), land("h2", 1, "B", "C"), undo("h2", 1, "C", "B")],
            [(1, "B", "b")],
            (1, 2),
        ),
        # Two removed lines come back in their order, whichever is undone first.
        ([land("h1", 1, "b", ""), land("h2", 1, "c", "")], [(1, "", "b")], (1, 1)),
        ([land("h2", 2, "c", ""), land("h1", 1, "b", "")], [(1, "", "b")], (1, 1)),
        ([land("h2", 1, "b", ""), land("h1", 1, "c", "")], [(1, "", "c")], (1, 1)),
    ],
)
def test_what_undoes_a_hunk(
    steps: list[Step | list[Step]], undone: list[tuple[int, str, str]] | None, extent: tuple[int, int]
) -> None:
    made = lineage(*steps)
    wanted: list[Site] | None = (
        None if undone is None else [(at, lines(old), lines(new)) for at, old, new in undone]
    )
    assert made.sites("h1", False) == wanted
    assert made.extent("h1") == extent


@pytest.mark.parametrize(
    ("steps", "redone"),
    [
        ([land("h1", 1, "b", "B"), undo("h1", 1, "B", "b")], [(1, "b", "B")]),
        ([land("h1", 1, "", "xy"), undo("h1", 1, "xy", "")], [(1, "", "xy")]),
        ([land("h1", 1, "b", ""), undo("h1", 1, "", "b")], [(1, "b", "")]),
        ([land("h1", 1, "b", "B"), undo("h1", 1, "B", "b"), land("h2", 1, "b", "C")], None),
        ([land("h1", 1, "b", "B"), undo("h1", 1, "B", "b"), land("h2", 0, "a", "")], [(0, "b", "B")]),
    ],
)
def test_what_redoes_a_hunk(steps: list[Step], redone: list[tuple[int, str, str]] | None) -> None:
    wanted = None if redone is None else [(at, lines(old), lines(new)) for at, old, new in redone]
    assert lineage(*steps).sites("h1", True) == wanted


@pytest.mark.parametrize(
    ("steps", "taken_by", "leaning"),
    [
        ([], None, []),
        ([land("h2", 3, "d", "D")], None, []),
        ([land("h2", 1, "x", "z")], "h2", ["h2"]),
        ([land("h2", 2, "y", "")], "h2", ["h2"]),
        ([land("h2", 2, "", "m")], None, ["h2"]),
        ([land("h2", 1, "", "m")], None, []),
        ([land("h2", 3, "", "m")], None, []),
        # The line between is hidden, and may show again once what hides it is undone.
        ([land("h2", 2, "", "m"), land("h3", 2, "m", "")], None, ["h2"]),
        ([land("h2", 1, "x", "z"), land("h3", 1, "z", "q")], "h2", ["h2", "h3"]),
        ([land("h2", 1, "x", ""), land("h3", 1, "y", "")], "h2", ["h2", "h3"]),
        # What is undone keeps nothing, until it lands again.
        ([land("h2", 2, "", "m"), undo("h2", 2, "m", "")], None, []),
        ([land("h2", 2, "", "m"), undo("h2", 2, "m", ""), land("h2", 2, "", "m")], None, ["h2"]),
        ([land("h2", 1, "x", "z"), undo("h2", 1, "z", "x")], None, []),
        ([land("h2", 1, "x", ""), undo("h2", 1, "", "x"), land("h3", 2, "", "m")], None, ["h3"]),
        (
            [land("h2", 2, "", "m"), land("h3", 2, "m", ""), undo("h3", 2, "", "m"), undo("h2", 2, "m", "")],
            None,
            [],
        ),
        ([land(None, 1, "x", "z")], None, []),
        ([land(None, 2, "", "m")], None, []),
    ],
)
def test_which_hunks_keep_one_from_being_undone(
    steps: list[Step], taken_by: str | None, leaning: list[str]
) -> None:
    made = lineage(land("h1", 1, "b", "xy"), *steps)
    assert made.taken_by("h1") == taken_by
    assert made.leaning("h1") == frozenset(leaning)


def test_a_hunk_of_which_nothing_is_known() -> None:
    made = lineage(land("h1", 1, "b", "B"))
    assert made.extent("h9") == (0, 0) and made.sites("h9", False) == []
    assert made.taken_by("h9") is None and made.leaning("h9") == frozenset()


def test_lines_come_back_with_the_ending_that_they_have_now() -> None:
    made = Lineage()
    made.change("h1", True, [(1, ("b",), ("B",))])
    made.change("h1", False, [(1, ("B\n",), ("b\r\n",))])
    assert made.sites("h1", True) == [(1, ("b\r\n",), ("B\n",))]
