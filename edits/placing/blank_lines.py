"""Finds lines that differ from the file only in the blank lines between them.

Models leave out blank lines, or add some, without meaning it. The lines with text must occur once in the
file, in order and with only blank lines between them, and have enough words. A change is made only if its
neighbours determine its place: new lines go right beside the line with text beside which they were typed.

Compares lines on the first three rungs: equal, equal after folding, equal but for indentation.
"""

from __future__ import annotations

from collections.abc import Sequence

from edits.files.folding import fold, tells
from edits.hunk import HunkLine, LineKind, Rung
from edits.placing.indent import Shift, shift_of


def old_of(reading: Sequence[HunkLine]) -> list[str]:
    """The lines that a reading looks for."""
    return [line.text for line in reading if line.kind is not LineKind.NEW]


def new_of(reading: Sequence[HunkLine]) -> list[str]:
    """The lines that a reading leaves in the file."""
    return [line.text for line in reading if line.kind is not LineKind.OLD]


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Every index at which ``lines`` continues with ``wanted``, which is not empty."""
    probe = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    needle, span = wanted[probe], list(wanted)
    found: list[int] = []
    at, last = probe, len(lines) - len(wanted) + probe
    while at <= last:
        try:
            at = lines.index(needle, at, last + 1)
        except ValueError:
            break
        start = at - probe
        if list(lines[start : start + len(span)]) == span:
            found.append(start)
        at += 1
    return found


def matches(folded: Sequence[str], old: Sequence[str], rung: Rung) -> list[int]:
    """Where one of the first three rungs finds ``old``; ``folded`` is the file as that rung compares it."""
    if rung is Rung.EXACT:
        return occurrences(folded, old)
    old = fold(old)
    if rung is Rung.FOLDED:
        return occurrences(folded, old)
    if not any(old):
        return []
    bare = [line.lstrip() for line in folded]
    starts = occurrences(bare, [line.lstrip() for line in old])
    return [start for start in starts if shift_of(folded[start : start + len(old)], old) is not None]


Found = tuple[int, int, tuple[HunkLine, ...], Shift]
"""The first line from 0, one past the last, the reading with the file's own blank lines, and the indentation
that its new lines lack."""

# With fewer letters and digits, or fewer lines with any, the match may be a coincidence.
_ENOUGH_LETTERS = 20
_ENOUGH_LINES = 2


def place_spaced(lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine]) -> Found | None:
    """The place of a reading whose old lines differ from the file's only in blank lines, if it is unique."""
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
    return None if whole is None or shift is None else (places[0], places[-1] + 1, tuple(whole), shift)


def _woven(lines: Sequence[str], reading: Sequence[HunkLine], places: Sequence[int]) -> list[HunkLine] | None:
    """The file's lines from the first of ``places`` to the last with the changes; None if one has no place.

    ``places`` are the lines of the file that match the reading's old lines with text.
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
            # Whether blank lines between two removed lines are to stay is not known.
            return None
        if between is None:
            return None
        whole += between
        whole.append(HunkLine(line.kind, lines[places[done]]))
        gap, done, after_old = [], done + 1, line.kind is LineKind.OLD
    below = _between(gap, (), at_bottom=True)
    return None if below is None else whole + below


def _between(
    gap: Sequence[HunkLine],
    blanks: Sequence[str],
    *,
    at_top: bool = False,
    at_bottom: bool = False,
    after_old: bool = False,
) -> list[HunkLine] | None:
    """The typed lines between two lines with text, combined with the blank lines that the file has there."""
    typed = [line for line in gap if line.kind is not LineKind.NEW]
    added = [index for index, line in enumerate(gap) if line.kind is LineKind.NEW]
    same = len(typed) == len(blanks) and not at_top and not at_bottom
    if same:
        real = iter(blanks)
        return [line if line.kind is LineKind.NEW else HunkLine(line.kind, next(real)) for line in gap]
    if any(line.kind is LineKind.OLD for line in typed):
        # It is not known which of the file's blank lines to remove.
        return None
    kept = [HunkLine(LineKind.CONTEXT, text) for text in blanks]
    if not added:
        return kept
    new = [gap[index] for index in added]
    if len(new) != added[-1] - added[0] + 1:
        return None
    above, below = added[0] == 0 and not at_top, added[-1] == len(gap) - 1 and not at_bottom
    if blanks and not after_old:
        # A blank line at the end of the new lines may be one of the file's own. Between two lines with
        # text it shows on which side the file's blank lines stay.
        first, last = bool(new[0].text.strip()), bool(new[-1].text.strip())
        if above and below:
            above, below = last and not first, first and not last
        else:
            above, below = above and first, below and last
    if not (above or below):
        return None
    return new + kept if above else kept + new
