"""Lines that stand in the file as typed but for blank lines between them.

A model leaves a blank line out, or adds one, without meaning anything by it. The lines with text must
stand in one place of the file in their order, with nothing but blank lines between, and say enough to be
sure. A change is made only where its neighbours fix its place: lines are added right beside the line
with text that they were typed beside.
"""

from __future__ import annotations

from collections.abc import Sequence

from edits.hunk import HunkLine, LineKind, Rung
from edits.placing.fold import fold
from edits.placing.indent import reindented, shift_of
from edits.placing.match import matches, old_of, tells

Found = tuple[int, int, tuple[HunkLine, ...]]
"""The first line from 0, one past the last, and the reading with the file's own blank lines."""

# Fewer letters and digits, or fewer lines with any, may stand spaced otherwise somewhere else.
_ENOUGH_LETTERS = 20
_ENOUGH_LINES = 2


def place_spaced(lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine]) -> Found | None:
    """The one place of a reading whose old lines differ from the file's in blank lines only."""
    texts = [line for line in fold(old_of(reading)) if line]
    letters = sum(map(str.isalnum, "".join(texts)))
    if sum(map(tells, texts)) < _ENOUGH_LINES or letters < _ENOUGH_LETTERS:
        return None
    where = [index for index, line in enumerate(folded) if line]
    filled = [folded[index] for index in where]
    for rung in (Rung.FOLDED, Rung.INDENT):
        starts = matches(filled, texts, rung)
        if starts:
            break
    if len(starts) != 1:
        return None
    places = where[starts[0] : starts[0] + len(texts)]
    shift = shift_of([folded[place] for place in places], texts)
    whole = _woven(lines, reading, places)
    moved = None if whole is None or shift is None else reindented(whole, shift)
    return None if moved is None else (places[0], places[-1] + 1, moved)


def _woven(lines: Sequence[str], reading: Sequence[HunkLine], places: Sequence[int]) -> list[HunkLine] | None:
    """The changes among the file's lines from the first of ``places`` to the last; None if one has no place.

    ``places`` are the lines of the file that the reading's old lines with text stand at.
    """
    whole: list[HunkLine] = []
    gap: list[HunkLine] = []
    done = 0
    after_old = False
    for line in reading:
        if line.kind is LineKind.NEW or not line.text.strip():
            gap.append(line)
            continue
        first = places[done - 1] + 1 if done else places[0]
        blanks = lines[first : places[done]]
        between = _between(gap, blanks, at_top=not done, after_old=after_old)
        if after_old and line.kind is LineKind.OLD and len(blanks) != len(gap):
            # Are the blank lines between two that go meant to stay?
            return None
        if between is None:
            return None
        whole += between
        whole.append(HunkLine(line.kind, lines[places[done]]))
        gap, done, after_old = [], done + 1, line.kind is LineKind.OLD
    below = _between(gap, (), at_bottom=True, after_old=after_old)
    return None if below is None else whole + below


def _between(
    gap: Sequence[HunkLine],
    blanks: Sequence[str],
    *,
    at_top: bool = False,
    at_bottom: bool = False,
    after_old: bool = False,
) -> list[HunkLine] | None:
    """The typed lines between two lines with text, in the blank lines that the file has there."""
    typed = [line for line in gap if line.kind is not LineKind.NEW]
    added = [index for index, line in enumerate(gap) if line.kind is LineKind.NEW]
    same = len(typed) == len(blanks) and not at_top and not at_bottom
    if same:
        real = iter(blanks)
        return [line if line.kind is LineKind.NEW else HunkLine(line.kind, next(real)) for line in gap]
    if any(line.kind is LineKind.OLD for line in typed):
        # Which of the file's blank lines is to go cannot be told.
        return None
    kept = [HunkLine(LineKind.CONTEXT, text) for text in blanks]
    if not added:
        return kept
    new = [gap[index] for index in added]
    if len(new) != added[-1] - added[0] + 1:
        return None
    above, below = added[0] == 0 and not at_top, added[-1] == len(gap) - 1 and not at_bottom
    if blanks and not after_old:
        # A blank line at the end of the added lines may as well be one of the file's, one line further;
        # between two lines with text it shows on which side the file's own blank lines stay.
        first, last = bool(new[0].text.strip()), bool(new[-1].text.strip())
        if above and below:
            above, below = last and not first, first and not last
        else:
            above, below = above and first, below and last
    if not (above or below):
        return None
    return new + kept if above else kept + new
