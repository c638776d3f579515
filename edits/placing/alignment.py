"""Rung 5: most lines are equal, but not all. It is the last resort, and has the strictest conditions.

The hunk's old lines are aligned with every window of the file that has a line in common with them. The
best window is the place only if its first and last lines are equal, it is about as long as the hunk, the
lines that the hunk deletes are almost as typed, and no other window is nearly as good. If the place of a
new line within the alignment is not certain, the hunk has no place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from edits.files.folding import fold, tells
from edits.hunk import HunkLine, LineKind
from edits.placing.blank_lines import old_of
from edits.placing.indent import Shift, shift_of

Found = tuple[int, int, tuple[HunkLine, ...], Shift]
"""The first line from 0, one past the last, the reading with the file's own lines, and the indentation that
its new lines lack."""

_LIKE = 0.75  # The similarity, letter by letter, of a stale line to the real one.
_ENOUGH = 0.7  # The part of the hunk's text that must be equal.
_AHEAD = 0.2  # The lead over any other place.
_MOST_WINDOWS = 6
_MOST_PLACES = 40  # A line that occurs more often does not help to find the place.
_LONGEST = 120  # Longer hunks are not aligned: the time grows with the square of their length.
_LONGEST_LINE = 2_000  # Characters of lines that are compared letter by letter.
_MOST_LETTERS = 2_000_000  # Pairs of equal letters that one search looks at: some seconds at the worst.
_SAME = 0.9  # The weight of a line that differs only in the style of quotes and in white space.
_WORD = re.compile(r"\w+")
_STYLE = str.maketrans("'`", '""', " ;,")


@dataclass(frozen=True, slots=True)
class _Alignment:
    """``pairs`` maps indices of typed old lines to lines of the file; ``agreeing`` are the equal ones."""

    score: float
    pairs: dict[int, int]
    agreeing: frozenset[int]


def place_aligned(lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine]) -> Found | None:
    """The place where most of a reading's old lines are; None if there is none or it is not certain."""
    old = fold(old_of(reading))
    if not 0 < len(old) <= _LONGEST:
        return None
    kinds = [line.kind for line in reading if line.kind is not LineKind.NEW]
    bare = [_bare(line) for line in folded]
    typed = [_bare(line) for line in old]
    slack = 1 + len(typed) // 4
    offsets = _offsets(bare, typed, slack)
    if offsets is None:
        return None
    letters = _Letters()
    found = [_align(bare, typed, kinds, offset, slack, letters) for offset in offsets]
    ranked = sorted((one for one in found if one is not None), key=lambda one: -one.score)
    if not ranked or ranked[0].score < _ENOUGH or not _alone(ranked):
        return None
    best = ranked[0]
    if not _sound(best, typed, kinds, slack) or not _framed(best, reading, typed, bare):
        return None
    if not _outdated(best, typed, bare):
        return None
    return _assembled(lines, folded, reading, best)


def _bare(line: str) -> str:
    return " ".join(line.split())


def _offsets(bare: Sequence[str], typed: Sequence[str], slack: int) -> list[int] | None:
    """Where the hunk's first line may be: the offsets at which most of its text is equal, best first.

    None if there are too many of about the same quality to try them all.
    """
    wanted = {_unquoted(line): line for line in typed if tells(line)}
    where: dict[str, list[int]] = {}
    for index, line in enumerate(bare):
        key = _unquoted(line)
        if key in wanted:
            where.setdefault(key, []).append(index)
    votes: Counter[int] = Counter()
    for at, line in enumerate(typed):
        places = where.get(_unquoted(line), ())
        if len(places) <= _MOST_PLACES:
            for place in places:
                votes[place - at] += _weight(line)
    # A window extends to both sides, so that nearby offsets belong to the same place.
    near = {offset: sum(votes[offset + by] for by in range(-slack, slack + 1)) for offset in votes}
    least = max(near.values(), default=0) - 2 * _AHEAD * sum(map(_weight, typed))
    chosen: list[int] = []
    for offset, _ in votes.most_common():
        if all(abs(offset - other) > slack for other in chosen):
            if len(chosen) < _MOST_WINDOWS:
                chosen.append(offset)
            elif near[offset] >= least:
                return None
    return chosen


def _unquoted(line: str) -> str:
    """The line with one style of quotes, and without spaces, commas and semicolons."""
    return line.translate(_STYLE)


def _weight(line: str) -> int:
    return 1 + min(40, sum(map(str.isalnum, line)))


class _Letters:
    """Compares lines letter by letter. A hunk can be written to keep that busy for hours, so after enough of
    it no line is alike any more, and the hunk has no place."""

    def __init__(self) -> None:
        self._left = _MOST_LETTERS

    def alike(self, typed: str, real: str) -> bool:
        """Whether a stale line is similar to the real one."""
        if self._left < 0 or max(len(typed), len(real)) > _LONGEST_LINE:
            return False
        matcher = SequenceMatcher(None, typed, real, autojunk=False)
        if matcher.real_quick_ratio() < _LIKE or matcher.quick_ratio() < _LIKE:
            return False
        letters = Counter(real)
        self._left -= sum(letters[letter] for letter in typed)
        return self._left >= 0 and matcher.ratio() >= _LIKE


def _align(
    bare: Sequence[str],
    typed: Sequence[str],
    kinds: Sequence[LineKind],
    offset: int,
    slack: int,
    letters: _Letters,
) -> _Alignment | None:
    """The best alignment of the typed lines with the file's around ``offset``."""
    low = max(0, offset - slack)
    window = bare[low : offset + len(typed) + slack]
    weights = [_weight(line) for line in typed]
    # best[i][j] is the score of typed[i:] against window[j:]; a window may begin and end with other lines.
    width = len(window) + 1
    best = [[0.0] * width for _ in range(len(typed) + 1)]
    gain = [[0.0] * len(window) for _ in typed]
    for i in range(len(typed) - 1, -1, -1):
        below, row = best[i + 1], best[i]
        row[-1] = below[-1]
        for j in range(len(window) - 1, -1, -1):
            gain[i][j] = _gain(typed[i], window[j], kinds[i], weights[i], letters)
            skip = row[j + 1] - (0.0 if i == 0 else 0.5 if not window[j] else 4.0)
            row[j] = max(gain[i][j] + below[j + 1], below[j], skip)
    pairs: dict[int, int] = {}
    agreeing: set[int] = set()
    i = j = 0
    while i < len(typed) and j < len(window):
        here = best[i][j]
        if here == gain[i][j] + best[i + 1][j + 1]:
            pairs[i] = low + j
            if gain[i][j] >= _SAME * weights[i]:
                agreeing.add(i)
            i, j = i + 1, j + 1
        elif here == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return _Alignment(best[0][0] / sum(weights), pairs, frozenset(agreeing)) if agreeing else None


def _gain(typed: str, real: str, kind: LineKind, weight: int, letters: _Letters) -> float:
    if typed == real:
        return float(weight)
    if _unquoted(typed) == _unquoted(real) and tells(typed):
        return _SAME * weight
    if kind is LineKind.OLD or not typed or not real:
        return -1000.0
    # A stale line may be paired with another line that is similar.
    return 0.1 * weight if letters.alike(typed, real) else -1000.0


def _alone(ranked: Sequence[_Alignment]) -> bool:
    best = ranked[0]
    return all(other.score <= best.score - _AHEAD for other in ranked[1:] if other.pairs != best.pairs)


def _sound(found: _Alignment, typed: Sequence[str], kinds: Sequence[LineKind], slack: int) -> bool:
    """Whether the ends are equal, the length is about the hunk's, and every line to delete is there."""
    first, last = min(found.agreeing), max(found.agreeing)
    telling = sum(tells(typed[index]) for index in found.agreeing)
    if first > 0 or last < len(typed) - 1:
        return False
    if telling < min(2, len(typed)):
        return False
    if abs(found.pairs[last] - found.pairs[first] - (last - first)) > slack:
        return False
    return all(index in found.pairs for index, kind in enumerate(kinds) if kind is LineKind.OLD)


def _framed(
    found: _Alignment, reading: Sequence[HunkLine], typed: Sequence[str], bare: Sequence[str]
) -> bool:
    """Whether the nearest lines with words above and below each change are equal and adjacent in the file.

    If they are not, this may be a similar text elsewhere, which differs in just these lines.
    """
    index = 0
    edges: set[tuple[int, int]] = set()
    for line in reading:
        if line.kind is not LineKind.CONTEXT:
            edges.add((index - 1, index + (line.kind is LineKind.OLD)))
        index += line.kind is not LineKind.NEW
    for above, below in edges:
        over = next((at for at in range(above, -1, -1) if tells(typed[at])), None)
        under = next((at for at in range(below, len(typed)) if tells(typed[at])), None)
        if {over, under} - {None} - found.agreeing:
            return False
        if over is not None and under is not None:
            between = sum(map(tells, bare[found.pairs[over] + 1 : found.pairs[under]]))
            if between != sum(map(tells, typed[over + 1 : under])):
                return False
    return True


def _outdated(found: _Alignment, typed: Sequence[str], bare: Sequence[str]) -> bool:
    """Whether the words that only the stale lines have are nowhere in the file.

    That is so for a name that was changed since. A word that the file still uses may be what
    distinguishes the place that the hunk means from this one.
    """
    words = set[str]()
    for index, place in found.pairs.items():
        if index not in found.agreeing:
            words |= set(_WORD.findall(typed[index])) - set(_WORD.findall(bare[place]))
    return not words or words.isdisjoint(word for line in bare for word in _WORD.findall(line))


def _assembled(
    lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine], found: _Alignment
) -> Found | None:
    """The reading with the file's own lines; None if a new line's place or indentation is not certain."""
    pairs = found.pairs
    old = fold(old_of(reading))
    shift = shift_of([folded[pairs[i]] for i in found.agreeing], [old[i] for i in found.agreeing])
    # Stale lines at the ends do not help to find the place.
    begin, end = pairs[min(found.agreeing)], pairs[max(found.agreeing)] + 1
    put: dict[int, list[HunkLine]] = {}
    gone: set[int] = set()
    whole_span = end - begin == len(old) == len(pairs)
    index = 0
    previous: LineKind | None = None
    for number, line in enumerate(reading):
        if line.kind is LineKind.NEW:
            beside_old = previous is LineKind.OLD or _next_old(reading, number)
            if not (whole_span or beside_old or all(map(tells, old[max(0, index - 1) : index + 1]))):
                # With a line missing, it is not known which of two blanks or braces is meant.
                return None
            at = _put_at(pairs, index, len(old), previous, _next_old(reading, number))
            if at is None or not begin <= at <= end:
                return None
            put.setdefault(at, []).append(line)
            continue
        if line.kind is LineKind.OLD:
            if previous is LineKind.OLD and pairs[index] != pairs[index - 1] + 1:
                return None
            gone.add(pairs[index])
        index += 1
        previous = line.kind
    whole: list[HunkLine] = []
    for at in range(begin, end):
        whole += put.get(at, ())
        whole.append(HunkLine(LineKind.OLD if at in gone else LineKind.CONTEXT, lines[at]))
    whole += put.get(end, ())
    return None if shift is None else (begin, end, tuple(whole), shift)


def _next_old(reading: Sequence[HunkLine], number: int) -> bool:
    following = next((line.kind for line in reading[number:] if line.kind is not LineKind.NEW), None)
    return following is LineKind.OLD


def _put_at(
    pairs: dict[int, int], index: int, count: int, previous: LineKind | None, next_old: bool
) -> int | None:
    """The line of the file above which a new line goes; ``index`` is that of the hunk's next old line."""
    if previous is LineKind.OLD:
        return pairs[index - 1] + 1
    if next_old or index == 0:
        return pairs.get(index)
    above = pairs.get(index - 1)
    if above is None or (index < count and pairs.get(index) != above + 1):
        return None
    return above + 1
