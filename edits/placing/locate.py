"""Finds a hunk's place in a file by a ladder of ever looser comparisons, each with a unique result.

1. The lines are equal. 2. They are equal except for trailing space and Unicode punctuation. 3. They are
equal except for indentation, if all lines have the same amount more or less, or another unit of it, or if
the first line alone lacks it. 4. ``...`` stands for lines that are left out. 5. Most lines are equal.

The first rung with a match decides. Several matches are told apart by the hunk's anchors (as lines, then
as names of definitions), its end-of-file mark or its line hint. Otherwise the hunk is refused, because a
wrong placement is far worse than a refusal. A place is none if the new text may not stand there as it was
typed (``edits.newtext.soundness``); another reading of the hunk may do then.

A hunk has several readings, tried in this order: first those of its parser, then those in which is undone
what models and the programs between write by mistake: line numbers before each line, entities in place of
characters, and lost blanks before lines of context. What is undone in the old text is undone in the new
text too; it has to be in every old line, or in none that matters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from edits.files.diff import edited
from edits.files.folding import FOLDED, alike_characters, fold, tells
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.newtext.markup import has_entities, unescaped
from edits.newtext.placeholders import in_prose
from edits.newtext.soundness import unsound
from edits.placing.alignment import place_aligned
from edits.placing.anchors import Symbol, anchor_line, settle_by_anchors, settle_by_symbols, stands
from edits.placing.blank_lines import matches, new_of, occurrences, old_of, place_spaced
from edits.placing.fitting import Site, fit
from edits.placing.found import Miss, Place, Present
from edits.placing.indent import UNMOVED, Shift, first_lost, shift_of
from edits.placing.miss_messages import describe_candidates, describe_nearest
from edits.placing.whole_files import place_elided

# Number of lines with words that a text needs to be found without the blank lines around it.
_TELLING_LINES = 2
_GUTTERS = (
    re.compile(r"\s*(?P<number>\d+)(?: ?\| |\t|→|: )(?P<text>.*)"),
    re.compile(r"\s*(?P<number>\d+)(?: ?\||:)(?P<text>.*)"),
)
_BARE_GUTTER = re.compile(r"\s*(?P<number>\d+)\s*(?:\||:|→)?")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a hunk. ``rung`` is the strictest one that may be recorded for it."""

    lines: tuple[HunkLine, ...]
    rung: Rung = Rung.EXACT
    line_hint: int | None = None

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return old_of(self.lines)


def readings_of(hunk: Hunk) -> list[Reading]:
    """The readings with text to find. One without the blank lines at the ends needs several lines of words.

    Those blank lines were typed, so that a single line without them may well be another place.
    """
    full = old_of(hunk.lines)
    found: list[Reading] = []
    for lines in (hunk.lines, *hunk.alternatives):
        old = old_of(lines)
        cut = len(old) < len(full) and list(filter(str.strip, old)) == list(filter(str.strip, full))
        if old and not (cut and sum(map(tells, old)) < _TELLING_LINES):
            found.append(Reading(lines, line_hint=hunk.line_hint))
    signed = hunk.format in (Format.V4A, Format.UNIFIED) and not hunk.flaw
    undos: list[Callable[[Reading], Reading | None]] = [partial(_without_numbers, one) for one in _GUTTERS]
    for undo in (*undos, _unescaped, *([_with_blanks] if signed else ())):
        found += [undone for one in found if (undone := undo(one)) is not None]
    return found


def _with_blanks(reading: Reading) -> Reading | None:
    """The reading with a blank before each line of context, whose sign may be its own first blank."""
    lines = tuple(
        HunkLine(line.kind, f" {line.text}") if line.kind is LineKind.CONTEXT and line.text else line
        for line in reading.lines
    )
    removes = any(line.kind is LineKind.OLD for line in lines)
    return Reading(lines, Rung.INDENT, reading.line_hint) if removes and lines != reading.lines else None


def _unescaped(reading: Reading) -> Reading | None:
    """The reading with characters in place of entities, if its old text has any."""
    if not has_entities(reading.old):
        return None
    lines = tuple(HunkLine(line.kind, unescaped(line.text)) for line in reading.lines)
    return Reading(lines, max(reading.rung, Rung.FOLDED), reading.line_hint)


def _without_numbers(gutter: re.Pattern[str], reading: Reading) -> Reading | None:
    """The reading without the numbers before its lines, if all old lines are numbered in sequence."""
    old = [_split(text, gutter) for text in reading.old]
    if not all(old):
        return None
    numbers = [number for number, _ in filter(None, old)]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    bare = [text for _, text in filter(None, old)]
    split = [(_split(text, gutter), text) for text in new_of(reading.lines)]
    if any(parts for parts, _ in split) and any(
        parts is None and text[:1].isdigit() for parts, text in split
    ):
        return None
    new = [text if parts is None else parts[1] for parts, text in split]
    hint = numbers[0] if reading.line_hint is None else reading.line_hint
    return Reading(edited(bare, new), Rung.FOLDED, hint)


def _split(text: str, gutter: re.Pattern[str]) -> tuple[int, str] | None:
    found = gutter.fullmatch(text)
    if found is not None:
        return int(found["number"]), found["text"]
    blank = _BARE_GUTTER.fullmatch(text)
    return None if blank is None else (int(blank["number"]), "")


def as_in_file(
    actual: Sequence[str], typed: Sequence[str], lines: Sequence[HunkLine]
) -> tuple[HunkLine, ...]:
    """``lines`` with characters in the new ones like those of the file, where the ``typed`` old lines show
    another way to type: curly quotes for straight ones, invisible characters, another normal form.

    ``actual`` are the lines of the file that the old lines stand for.
    """
    here, there = "\n".join(typed), "\n".join(actual)
    if here.isascii():
        return tuple(lines)
    gone = set(here) - set(there)
    table = {code: FOLDED[code] for character in gone for code in alike_characters(character)}
    composed = unicodedata.is_normalized("NFC", there) and not unicodedata.is_normalized("NFC", here)
    if not table and not composed:
        return tuple(lines)
    return tuple(
        HunkLine(line.kind, _typed_as(line.text, table, composed)) if line.kind is LineKind.NEW else line
        for line in lines
    )


def _typed_as(text: str, table: dict[int, str | None], composed: bool) -> str:
    text = text.translate(table)
    return unicodedata.normalize("NFC", text) if composed else text


Symbols = Callable[[], Sequence[Symbol]]
"""Gives the definitions in the file that is searched; called only if they are needed."""


# Text with fewer letters and digits, such as a brace, must be unique with any indentation.
_FEW_LETTERS = 4
# Line hints are often off by a few lines, so that one cannot tell apart two places this near to it.
_HINT_LEEWAY = 5
# An anchor that is nowhere in the file is ignored if a single match has this many letters and digits.
_SURE_WITHOUT_ANCHOR = 20


_LOOSE = ((Rung.FOLDED, place_spaced), (Rung.ELISION, place_elided), (Rung.ALIGNED, place_aligned))


def locate(lines: Sequence[str], hunk: Hunk, symbols: Symbols = lambda: ()) -> Place | Present | Miss:
    """Find the place of ``hunk`` in a file's ``lines``, which have no endings."""
    readings = readings_of(hunk)
    if not readings:
        return _insertion(lines, hunk)
    doubt: str | None = None
    for found in _tried(lines, hunk, readings, symbols):
        if not isinstance(found, str):
            return found
        doubt = doubt or found
    if doubt is not None:
        return Miss(RefusalCode.MALFORMED, doubt)
    return Miss(RefusalCode.NO_MATCH, describe_nearest(lines, readings[0].old))


def _tried(
    lines: Sequence[str], hunk: Hunk, readings: Sequence[Reading], symbols: Symbols
) -> Iterator[Place | Present | Miss | str]:
    """What each reading leads to, the strictest search first: a result, or what its new text has wrong."""
    folded: Sequence[str] | None = None
    doubted = False
    for reading in readings:
        found = _on_rung(lines, lines, reading, hunk, Rung.EXACT, symbols)
        if found is None:
            folded = folded if folded is not None else fold(lines)
            for rung in (Rung.FOLDED,) if hunk.flaw else (Rung.FOLDED, Rung.INDENT):
                found = found or _on_rung(lines, folded, reading, hunk, rung, symbols)
        if found is not None:
            doubted = doubted or isinstance(found, str)
            yield found
    if doubted:
        return
    if hunk.flaw:
        yield hunk.flaw
        return
    folded = folded if folded is not None else fold(lines)
    for reading in readings:
        present = _already(folded, reading.lines, hunk)
        if present is not None:
            yield present
    for reading in readings:
        loose = _loosely(lines, folded, reading, hunk)
        if loose is not None:
            yield loose


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
    lines: Sequence[str], folded: Sequence[str], reading: Reading, hunk: Hunk, rung: Rung, symbols: Symbols
) -> Place | Miss | str | None:
    """The place of a reading on one of the first three rungs, or what is wrong with its new text; None if
    there is no match."""
    old = reading.old
    starts = matches(folded, old, rung)
    if not starts and rung is Rung.INDENT:
        starts = first_lost(folded, fold(old))
    if not starts:
        return None
    chosen = _settle(lines, starts, reading, hunk, symbols)
    if isinstance(chosen, Miss):
        return chosen
    shift = UNMOVED if rung is not Rung.INDENT else shift_of(folded[chosen : chosen + len(old)], fold(old))
    if shift is None:
        return None
    found = (chosen, chosen + len(old), reading.lines, shift)
    return _place(lines, found, old, max(rung, reading.rung), hunk)


def _loosely(
    lines: Sequence[str], folded: Sequence[str], reading: Reading, hunk: Hunk
) -> Place | Present | Miss | str | None:
    """The place of a reading by the looser searches, each of which checks that its result is unique."""
    for rung, search in _LOOSE:
        found = search(lines, folded, reading.lines)
        if found is None:
            continue
        start, end, whole, _ = found
        if list(map(str.lstrip, fold(new_of(whole)))) == list(map(str.lstrip, fold(lines[start:end]))):
            return Present(start, end, rung)
        if hunk.anchors and not settle_by_anchors(lines, [start], end - start, hunk.anchors):
            return _no_anchor(start, hunk)
        placed = _place(lines, found, reading.old, rung, hunk, woven=True)
        if placed is not None:
            return placed
    return None


def _place(
    lines: Sequence[str],
    found: tuple[int, int, tuple[HunkLine, ...], Shift],
    typed: Sequence[str],
    rung: Rung,
    hunk: Hunk,
    *,
    woven: bool = False,
) -> Place | str | None:
    """The place with its new lines like the file's, or what is wrong with them; None if they cannot be
    indented."""
    start, end, reading, shift = found
    reading = as_in_file(lines[start:end], typed, reading)
    wrong = unsound(hunk.path, lines, reading, hunk.format)
    if wrong is not None:
        return wrong
    site = Site(lines, start, end, in_prose(hunk.path))
    fitted = fit(site, reading, shift, hunk.format, woven=woven)
    if fitted is None or isinstance(fitted, str):
        return fitted
    wrong = unsound(hunk.path, lines, fitted, hunk.format)
    if wrong is not None:
        return wrong
    # What is undone in the new text is more than an exact match, even if the old text is one.
    moved = rung is Rung.EXACT and fitted != reading
    return Place(start, end, Rung.INDENT if moved else rung, fitted)


def _settle(
    lines: Sequence[str], starts: list[int], reading: Reading, hunk: Hunk, symbols: Symbols
) -> int | Miss:
    """The start among ``starts`` that the hunk's anchors, end-of-file mark or line hint select."""
    old = reading.old
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
    if len(starts) > 1 and reading.line_hint is not None:
        starts = _nearest(starts, reading.line_hint - 1)
    if len(starts) > 1:
        return Miss(RefusalCode.AMBIGUOUS, describe_candidates(starts, size))
    told = hunk.anchors or reading.line_hint or hunk.at_end_of_file
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
