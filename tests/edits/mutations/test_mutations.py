"""Right edits of real files, each damaged in two ways: none lands wrong, and nearly all that may land do.

``python -m tests.edits.mutations.run`` tries 200,000."""

from __future__ import annotations

from tests.edits.mutations.answers import FORMATS, edits
from tests.edits.mutations.operators import LINES, MARKUP
from tests.edits.mutations.run import Counts, run, table
from tests.thorough import share

EDITS = list(edits())


def judge(counts: Counts) -> None:
    """Nothing is wrong, and of what should land at least 98 in 100 do."""
    assert counts.total.wrong == 0, "\n".join((*counts.shown, table(counts)))
    assert counts.total.missed <= 0.02 * (counts.total.right + counts.total.missed), table(counts)


def test_no_edit_with_two_damages_lands_wrong() -> None:
    counts = run(EDITS, share(20_000, 2_500), seed=35, show=3)
    judge(counts)
    # Without the corpus beside the checkout, a few damages fit none of the files.
    assert len(counts.tallies) >= 30 and len(FORMATS) == 5
    assert len(EDITS) < 50 or set(counts.tallies) == {operator.__name__ for operator in (*LINES, *MARKUP)}
