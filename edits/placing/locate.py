"""Finds a hunk's place in a file by a ladder of ever looser comparisons, each with a unique result.

1. The lines are equal. 2. They are equal except for trailing space and Unicode punctuation. 3. They are
equal except for indentation, if all lines have the same amount more or less, or another unit of it.
4. ``...`` stands for lines that are left out. 5. Most lines are equal.

The first rung with a match decides. Several matches are told apart by the hunk's anchors (as lines, then
as names of definitions), its end-of-file mark or its line hint. Otherwise the hunk is refused, because a
wrong placement is far worse than a refusal.

Rung 4: a hunk that writes ``...`` for lines that it does not change.

Each piece between two elisions must occur once in the file, or once in the scope of the first piece.
The lines that are left out stay as they are, so an elision must be context in the hunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from edits.hunk import Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.placing.alignment import place_aligned
from edits.placing.anchors import Symbol, anchor_line, in_scope, settle_by_anchors, settle_by_symbols, stands
from edits.placing.blank_lines import matches, new_of, occurrences, old_of, place_spaced, tells
from edits.placing.hints import describe_candidates, describe_nearest, fold
from edits.placing.indent import Shift, reindented, shift_of

# Three dots alone, or in a comment that may say what is left out.
_MARK = re.compile(r"(\.\.\.|(#|//|--|/\*|<!--|\{/\*|;|%)\s*\.\.\.\s*(\w.*)?)\s*(\*/\}?|-->)?")

Found = tuple[int, int, tuple[HunkLine, ...]]
"""The first line from 0, one past the last, and the reading with the file's lines in its elisions."""


def is_elision(text: str) -> bool:
    """Whether a line stands for others that are left out."""
    return _MARK.fullmatch(fold([text])[0].strip()) is not None


def place_elided(lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine]) -> Found | None:
    """The place of a reading with elisions; None if it has no elisions or no unique place."""
    marks = [line for line in reading if is_elision(line.text)]
    if not marks or any(line.kind is not LineKind.CONTEXT for line in marks):
        return None
    pieces = _framed(_pieces(reading))
    if not pieces or not any(tells(text) for text in old_of(pieces[0])):
        return None
    for rung in (Rung.FOLDED, Rung.INDENT):
        starts = _starts(folded, pieces, rung)
        if starts is not None:
            return _assembled(lines, folded, pieces, starts)
    return None


def _pieces(reading: Sequence[HunkLine]) -> list[list[HunkLine]]:
    pieces: list[list[HunkLine]] = [[]]
    for line in reading:
        if is_elision(line.text):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [piece for piece in pieces if piece]


def _framed(pieces: list[list[HunkLine]]) -> list[list[HunkLine]]:
    """The pieces without those at the ends that change nothing and have no words, such as a brace."""

    def idle(piece: Sequence[HunkLine]) -> bool:
        return all(line.kind is LineKind.CONTEXT and not tells(line.text) for line in piece)

    while pieces and idle(pieces[-1]):
        pieces = pieces[:-1]
    while pieces and idle(pieces[0]):
        pieces = pieces[1:]
    return pieces


def _starts(folded: Sequence[str], pieces: Sequence[Sequence[HunkLine]], rung: Rung) -> list[int] | None:
    starts: list[int] = []
    end = 0
    for piece in pieces:
        old = old_of(piece)
        if not old:
            # Nothing determines the place of new lines between two elisions.
            return None
        found = matches(folded, old, rung)
        if len(found) > 1 and starts:
            found = [start for start in found if start >= end and in_scope(folded, starts[0], start)]
        if len(found) != 1 or found[0] < end:
            return None
        starts.append(found[0])
        end = found[0] + len(old)
    return starts


def _assembled(
    lines: Sequence[str], folded: Sequence[str], pieces: Sequence[Sequence[HunkLine]], starts: Sequence[int]
) -> Found | None:
    whole: list[HunkLine] = []
    shift: Shift | None = None
    at = starts[0]
    for piece, start in zip(pieces, starts, strict=True):
        old = fold(old_of(piece))
        this = shift_of(folded[start : start + len(old)], old) if any(old) else shift
        if this is None or (shift is not None and this != shift):
            return None
        shift = this
        whole += [HunkLine(LineKind.CONTEXT, text) for text in lines[at:start]]
        moved = reindented(piece, shift)
        if moved is None:
            return None
        whole += moved
        at = start + len(old)
    return starts[0], at, tuple(whole)


Symbols = Callable[[], Sequence[Symbol]]
"""Gives the definitions in the file that is searched; called only if they are needed."""


# Text with fewer letters and digits, such as a brace, must be unique with any indentation.
_FEW_LETTERS = 4
# Number of lines with words that a text needs to be found without the blank lines around it.
_TELLING_LINES = 2
# Line hints are often off by a few lines, so that one cannot tell apart two places this near to it.
_HINT_LEEWAY = 5
# An anchor that is nowhere in the file is ignored if a single match has this many letters and digits.
_SURE_WITHOUT_ANCHOR = 20


_LOOSE = ((Rung.FOLDED, place_spaced), (Rung.ELISION, place_elided), (Rung.ALIGNED, place_aligned))


@dataclass(frozen=True, slots=True)
class Place:
    """Lines ``start`` to ``end`` of the file, from 0, are the hunk's old text.

    ``lines`` is the reading that matched, its new lines indented as the file is.
    """

    start: int
    end: int
    rung: Rung
    lines: tuple[HunkLine, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """The hunk's new text is at these lines already, and its old text is nowhere."""

    start: int
    end: int
    rung: Rung


@dataclass(frozen=True, slots=True)
class Miss:
    """The hunk has no place in the file, or more than one."""

    code: RefusalCode
    message: str


def locate(lines: Sequence[str], hunk: Hunk, symbols: Symbols = lambda: ()) -> Place | Present | Miss:
    """Find the place of ``hunk`` in a file's ``lines``, which have no endings."""
    readings = _readings(hunk)
    if not readings:
        return _insertion(lines, hunk)
    folded: Sequence[str] | None = None
    for reading in readings:
        found = _on_rung(lines, lines, reading, hunk, Rung.EXACT, symbols)
        if found is None:
            folded = folded if folded is not None else fold(lines)
            for rung in (Rung.FOLDED, Rung.INDENT):
                found = found or _on_rung(lines, folded, reading, hunk, rung, symbols)
        if found is not None:
            return found
    assert folded is not None
    for reading in readings:
        present = _already(folded, reading, hunk)
        if present is not None:
            return present
    for reading in readings:
        found = _loosely(lines, folded, reading, hunk)
        if found is not None:
            return found
    return Miss(RefusalCode.NO_MATCH, describe_nearest(lines, old_of(readings[0])))


def _readings(hunk: Hunk) -> list[tuple[HunkLine, ...]]:
    """The readings with text to find. One without the blank lines at the ends needs several lines of words.

    Those blank lines were typed, so that a single line without them may well be another place.
    """
    full = old_of(hunk.lines)
    found: list[tuple[HunkLine, ...]] = []
    for reading in (hunk.lines, *hunk.alternatives):
        old = old_of(reading)
        cut = len(old) < len(full) and list(filter(str.strip, old)) == list(filter(str.strip, full))
        if old and not (cut and sum(map(tells, old)) < _TELLING_LINES):
            found.append(reading)
    return found


def find(lines: Sequence[str], old: Sequence[str]) -> tuple[int, int] | None:
    """Where ``old`` is in ``lines``, from 0, if in one place only; for showing a hunk that is being typed."""
    if not any(map(str.strip, old)):
        return None
    folded: Sequence[str] = lines
    for rung in (Rung.EXACT, Rung.FOLDED, Rung.INDENT):
        if rung is Rung.FOLDED:
            folded = fold(lines)
        starts = matches(folded, old, rung)
        if starts:
            return (starts[0], starts[0] + len(old)) if len(starts) == 1 else None
    return None


def _on_rung(
    lines: Sequence[str],
    folded: Sequence[str],
    reading: tuple[HunkLine, ...],
    hunk: Hunk,
    rung: Rung,
    symbols: Symbols,
) -> Place | Miss | None:
    """The place of a reading on one of the first three rungs; None if there is no match."""
    old = old_of(reading)
    starts = matches(folded, old, rung)
    if not starts:
        return None
    chosen = _settle(lines, starts, reading, hunk, symbols)
    if isinstance(chosen, Miss):
        return chosen
    if rung is Rung.INDENT:
        shift = shift_of(folded[chosen : chosen + len(old)], fold(old))
        moved = None if shift is None else reindented(reading, shift)
        if moved is None:
            return None
        reading = moved
    return Place(chosen, chosen + len(old), rung, reading)


def _loosely(
    lines: Sequence[str], folded: Sequence[str], reading: tuple[HunkLine, ...], hunk: Hunk
) -> Place | Miss | None:
    """The place of a reading by the looser searches, each of which checks that its result is unique."""
    for rung, search in _LOOSE:
        found = search(lines, folded, reading)
        if found is not None:
            start, end, whole = found
            if hunk.anchors and not settle_by_anchors(lines, [start], end - start, hunk.anchors):
                return _no_anchor(start, hunk)
            return Place(start, end, rung, whole)
    return None


def _settle(
    lines: Sequence[str], starts: list[int], reading: Sequence[HunkLine], hunk: Hunk, symbols: Symbols
) -> int | Miss:
    """The start among ``starts`` that the hunk's anchors, end-of-file mark or line hint select."""
    old = old_of(reading)
    size = len(old)
    if hunk.anchors:
        kept = settle_by_anchors(lines, starts, size, hunk.anchors)
        if not kept and not stands(lines, hunk.anchors):
            # The anchor is not a line of the file; it may name a definition in other words.
            kept = settle_by_symbols(starts, size, hunk.anchors, symbols())
            letters = sum(map(str.isalnum, "".join(old)))
            kept = kept if len(starts) > 1 or letters >= _SURE_WITHOUT_ANCHOR else []
        if not kept:
            return _no_anchor(starts[0], hunk)
        if len(kept) > 1:
            kept = settle_by_symbols(kept, size, hunk.anchors, symbols()) or kept
        starts = kept
    if len(starts) > 1 and hunk.at_end_of_file:
        bottom = len(lines)
        while bottom and not lines[bottom - 1].strip():
            bottom -= 1
        starts = [start for start in starts if start + size >= bottom] or starts
    if len(starts) > 1 and hunk.line_hint is not None:
        starts = _nearest(starts, hunk.line_hint - 1)
    if len(starts) > 1:
        return Miss(RefusalCode.AMBIGUOUS, describe_candidates(starts, size))
    told = hunk.anchors or hunk.line_hint or hunk.at_end_of_file
    if not told and sum(map(str.isalnum, "".join(old))) < _FEW_LETTERS:
        return _wordless(lines, starts[0], old)
    return starts[0]


def _wordless(lines: Sequence[str], start: int, old: Sequence[str]) -> int | Miss:
    """The start of a text with almost no words. Models often get the indentation of such lines wrong."""
    alike = matches(fold(lines), old, Rung.INDENT)
    if len(alike) == 1 or (len(old) == len(lines)):
        return start
    if alike:
        return Miss(RefusalCode.AMBIGUOUS, describe_candidates(alike, len(old)))
    return Miss(
        RefusalCode.NO_MATCH, "blank lines alone do not determine the place: add lines of context with text"
    )


def _no_anchor(start: int, hunk: Hunk) -> Miss:
    return Miss(
        RefusalCode.NO_MATCH,
        f"the text is at line {start + 1}, but no line above it is the anchor “@@ {hunk.anchors[-1]}”",
    )


def _nearest(starts: list[int], hint: int) -> list[int]:
    """The start nearest to the hint if it is less than half as far as the next one, otherwise all."""
    first, second = sorted(abs(start - hint) for start in starts)[:2]
    if second <= max(2 * first, _HINT_LEEWAY):
        return starts
    return [min(starts, key=lambda start: abs(start - hint))]


def _insertion(lines: Sequence[str], hunk: Hunk) -> Place | Present | Miss:
    """A hunk without old text: under its anchor if it has one, else at the end of the file."""
    new = new_of(hunk.lines)
    if not new:
        return Miss(RefusalCode.MALFORMED, "the edit has no lines")
    if hunk.anchors:
        at = anchor_line(lines, hunk.anchors)
        if at is None:
            code = RefusalCode.NO_MATCH
            return Miss(code, f"the anchor “@@ {hunk.anchors[-1]}” is not in the file, or more than once")
        start = at + 1
        there = list(lines[start : start + len(new)])
    elif hunk.line_hint and lines:
        return Miss(
            RefusalCode.NO_MATCH, "the edit has only line numbers: add lines of context to find its place"
        )
    else:
        start = len(lines)
        there = list(lines[-len(new) :])
    if there == new:
        begin = start if hunk.anchors else start - len(new)
        return Present(begin, begin + len(new), Rung.EXACT)
    return Place(start, start, Rung.EXACT, hunk.lines)


def _already(folded: Sequence[str], reading: Sequence[HunkLine], hunk: Hunk) -> Present | None:
    """Where the new text is, if in one place, and most of the replaced text is nowhere else in the file."""
    new = fold(new_of(reading))
    gone = fold([line.text for line in reading if line.kind is LineKind.OLD and tells(line.text)])
    added = [line.text for line in reading if line.kind is LineKind.NEW and tells(line.text)]
    kept = [line.text for line in reading if line.kind is LineKind.CONTEXT and tells(line.text)]
    if not new or not (added or len(kept) >= 2):
        return None
    starts = occurrences(folded, new)
    if hunk.anchors and starts:
        starts = settle_by_anchors(folded, starts, len(new), hunk.anchors)
    if len(starts) != 1:
        return None
    start, end = starts[0], starts[0] + len(new)
    elsewhere = {*folded[:start], *folded[end:]}
    if gone and 2 * sum(line in elsewhere for line in gone) > len(gone):
        return None
    return Present(start, end, Rung.EXACT)
