"""The report to the model: its lines are read by programs."""

from __future__ import annotations

from edits.hunk import Action, Landed, RefusalCode, Refused, Rung, Status
from edits.report import NotReceived, Outcome, UndoneByUser, render


def test_one_line_a_hunk() -> None:
    landed = Landed("h1", "a.py", Action.UPDATE, Status.APPLIED, Rung.EXACT, 3, 5)
    results: list[Outcome] = [
        landed,
        Landed("h2", "b.py", Action.UPDATE, Status.APPLIED_FUZZY, Rung.INDENT, 3, 4),
        Landed("h3", "c.py", Action.DELETE, Status.APPLIED, Rung.EXACT, 0, 0),
        Landed("h4", "d.py", Action.MOVE, Status.APPLIED, Rung.EXACT, 1, 1, moved_to="e.py"),
        Refused("h5", "f.py", RefusalCode.NO_MATCH, "the text is not in the file; near:\n*7 | x"),
        Refused("h6", "", RefusalCode.MALFORMED, "no file name"),
        Refused("h7", "g.py", RefusalCode.INCOMPLETE, "the stream ended"),
        NotReceived("h8", "i.py"),
        UndoneByUser("h9", "j.py"),
    ]
    assert render(results).split("\n") == [
        "What became of your edits:",
        "- h1 applied a.py lines 3-4",
        "- h2 applied_fuzzy b.py lines 3-3",
        "- h3 applied c.py",
        "- h4 applied d.py: moved to e.py",
        "- h5 rejected (no_match) f.py: the text is not in the file; near:",
        "    *7 | x",
        "- h6 rejected (malformed) (no file): no file name",
        "- h7 not_received g.py: the stream ended",
        "- h8 not_received i.py: it was cut off, nothing of it was written",
        "- h9 undone_by_user j.py",
        "What landed is on disk: do not send it again.",
    ]


def test_nothing_landed_and_nothing_at_all() -> None:
    assert "do not send it again" not in render([NotReceived("h1", "a.py")])
    assert render([]) == ""
