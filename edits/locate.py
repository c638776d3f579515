"""Where a hunk stands in a file: a ladder of ever looser comparisons, each demanding uniqueness.

1. the lines are equal; 2. they are equal but for trailing space and Unicode punctuation; 3. they are
equal but for one indentation added to, or taken from, every line. The first rung with a match
decides. Several matches on it are told apart by the hunk's anchors, its end-of-file mark or its line
hint, and otherwise the hunk is refused: a wrong placement is far worse than a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.diagnose import describe_candidates, describe_nearest
from edits.fold import fold, indentation
from edits.hunk import Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.scope import anchor_line, settle_by_anchors


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
    """The hunk's new text stands at these lines already, and its old text nowhere."""

    start: int
    end: int
    rung: Rung


@dataclass(frozen=True, slots=True)
class Miss:
    """The hunk has no one place in the file."""

    code: RefusalCode
    message: str


def locate(lines: Sequence[str], hunk: Hunk) -> Place | Present | Miss:
    """Find the one place of ``hunk`` in a file's ``lines`` (without endings)."""
    readings = [reading for reading in (hunk.lines, *hunk.alternatives) if _old(reading)]
    if not readings:
        return _insertion(lines, hunk)
    folded: Sequence[str] | None = None
    for reading in readings:
        found = _on_rung(lines, lines, reading, hunk, Rung.EXACT)
        if found is not None:
            return found
    for reading in readings:
        folded = folded if folded is not None else fold(lines)
        found = _on_rung(lines, folded, reading, hunk, Rung.FOLDED)
        if found is None:
            found = _on_rung(lines, folded, reading, hunk, Rung.INDENT)
        if found is not None:
            return found
    assert folded is not None
    for reading in readings:
        present = _already(folded, reading, hunk)
        if present is not None:
            return present
    return Miss(RefusalCode.NO_MATCH, describe_nearest(lines, _old(readings[0])))


def find(lines: Sequence[str], old: Sequence[str]) -> tuple[int, int] | None:
    """Where ``old`` stands in ``lines``, from 0, if in one place only; for drawing a hunk being typed."""
    reading = tuple(HunkLine(LineKind.OLD, text) for text in old)
    if not any(map(str.strip, old)):
        return None
    folded: Sequence[str] = lines
    for rung in (Rung.EXACT, Rung.FOLDED, Rung.INDENT):
        if rung is Rung.FOLDED:
            folded = fold(lines)
        starts = _matches(folded, reading, rung)
        if starts:
            return (starts[0], starts[0] + len(old)) if len(starts) == 1 else None
    return None


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Every index at which ``wanted`` (not empty) stands in ``lines``."""
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


def _old(reading: Sequence[HunkLine]) -> list[str]:
    return [line.text for line in reading if line.kind is not LineKind.NEW]


def _new(reading: Sequence[HunkLine]) -> list[str]:
    return [line.text for line in reading if line.kind is not LineKind.OLD]


def _on_rung(
    lines: Sequence[str], folded: Sequence[str], reading: tuple[HunkLine, ...], hunk: Hunk, rung: Rung
) -> Place | Miss | None:
    """The place of one reading on one rung; None when the rung has no match at all."""
    starts = _matches(folded, reading, rung)
    if not starts:
        return None
    size = len(_old(reading))
    chosen = _settle(lines, starts, size, hunk)
    if isinstance(chosen, Miss):
        return chosen
    if rung is Rung.INDENT:
        shifted = _reindented(lines, chosen, reading)
        if shifted is None:
            return None
        reading = shifted
    return Place(chosen, chosen + size, rung, reading)


def _matches(folded: Sequence[str], reading: Sequence[HunkLine], rung: Rung) -> list[int]:
    old = _old(reading)
    if rung is Rung.EXACT:
        return occurrences(folded, old)
    old = list(fold(old))
    if rung is Rung.FOLDED:
        return occurrences(folded, old)
    if not any(old):
        return []
    bare = [line.lstrip() for line in folded]
    starts = occurrences(bare, [line.lstrip() for line in old])
    return [start for start in starts if _shift(folded[start : start + len(old)], old) is not None]


def _shift(actual: Sequence[str], typed: Sequence[str]) -> tuple[str, str] | None:
    """What to take from and to put before each line of ``typed`` to make ``actual``; None if not uniform."""
    shift: tuple[str, str] | None = None
    for real, line in zip(actual, typed, strict=True):
        if not line:
            continue
        there, here = indentation(real), indentation(line)
        if there.endswith(here):
            this = ("", there[: len(there) - len(here)])
        elif here.endswith(there):
            this = (here[: len(here) - len(there)], "")
        else:
            return None
        if shift is not None and this != shift:
            return None
        shift = this
    return shift


def _reindented(lines: Sequence[str], start: int, reading: Sequence[HunkLine]) -> tuple[HunkLine, ...] | None:
    """The reading with its new lines shifted as its old ones are; None when one is too shallow for that."""
    old = _old(reading)
    shift = _shift(fold(lines[start : start + len(old)]), fold(old))
    if shift is None:
        return None
    taken, put = shift
    shifted: list[HunkLine] = []
    for line in reading:
        text = line.text
        if line.kind is LineKind.NEW and text.strip():
            if not text.startswith(taken):
                return None
            text = put + text[len(taken) :]
        shifted.append(HunkLine(line.kind, text))
    return tuple(shifted)


def _settle(lines: Sequence[str], starts: list[int], size: int, hunk: Hunk) -> int | Miss:
    """The one start among ``starts`` that the hunk means."""
    if hunk.anchors:
        kept = settle_by_anchors(lines, starts, size, hunk.anchors)
        if not kept:
            return Miss(
                RefusalCode.NO_MATCH,
                f"the text stands at line {starts[0] + 1}, but no line above it is the anchor"
                f" “@@ {hunk.anchors[-1]}”",
            )
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
    return starts[0]


def _nearest(starts: list[int], hint: int) -> list[int]:
    """The start the hint clearly means: less than half as far as the next one, or all of them."""
    first, second = sorted(starts, key=lambda start: abs(start - hint))[:2]
    return [first] if 2 * abs(first - hint) < abs(second - hint) else starts


def _insertion(lines: Sequence[str], hunk: Hunk) -> Place | Present | Miss:
    """A hunk without old text: under its anchor if it has one, else at the end of the file."""
    new = _new(hunk.lines)
    if not new:
        return Miss(RefusalCode.MALFORMED, "the edit has no lines")
    if hunk.anchors:
        at = anchor_line(lines, hunk.anchors)
        if at is None:
            code = RefusalCode.NO_MATCH
            return Miss(code, f"the anchor “@@ {hunk.anchors[-1]}” does not stand in one place of the file")
        start = at + 1
        there = list(lines[start : start + len(new)])
    elif hunk.line_hint and lines:
        return Miss(
            RefusalCode.NO_MATCH, "the edit has line numbers only: give lines of context to find its place"
        )
    else:
        start = len(lines)
        there = list(lines[-len(new) :])
    if there == new:
        begin = start if hunk.anchors else start - len(new)
        return Present(begin, begin + len(new), Rung.EXACT)
    return Place(start, start, Rung.EXACT, hunk.lines)


def _already(folded: Sequence[str], reading: Sequence[HunkLine], hunk: Hunk) -> Present | None:
    """Does the new text stand in one place, and too little of the replaced text to think of stale context?"""
    new = fold(_new(reading))
    gone = fold([line.text for line in reading if line.kind is LineKind.OLD and _tells(line.text)])
    added = [line.text for line in reading if line.kind is LineKind.NEW and _tells(line.text)]
    kept = [line.text for line in reading if line.kind is LineKind.CONTEXT and _tells(line.text)]
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


def _tells(text: str) -> bool:
    """Does a line say more than a brace or a blank?"""
    return any(map(str.isalnum, text))
