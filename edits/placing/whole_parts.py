"""Divides a whole file that a model wrote into the hunks in which it differs from the file on disk.

Small models answer with whole files by nature. Divided, what they changed is shown, judged and undone hunk by
hunk. What such a text loses is looked at first: a model that writes a file from memory forgets parts of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from edits.files.folding import fold, tells
from edits.formats.openers import commented_path
from edits.hunk import Format, Hunk, HunkLine, LineKind
from edits.newtext.placeholders import PROSE_SUFFIXES
from edits.placing.anchors import Symbol
from edits.placing.found import Miss
from edits.placing.kept_parts import forgotten, kept
from edits.placing.whole_files import place_whole

_AROUND = 3
"""Most lines of context on each side of a hunk; changes with fewer lines between them are one hunk."""
_LIKE = 0.5
"""The part of a file's lines that a text must have to be taken for that file."""
_MOST_LOST = 0.25
"""The part of a file that may be lost without a question."""
_MARKUP = PROSE_SUFFIXES | {".html", ".htm", ".xhtml", ".xml", ".svg"}
_FEW = 5
"""As many lines may always be lost."""


def is_like(lines: Sequence[str], new: Sequence[str]) -> bool:
    """Whether most of the file's telling lines are in the new text."""
    told = [line for line in fold(lines) if tells(line)]
    typed = set(fold(new))
    return bool(told) and sum(line in typed for line in told) >= _LIKE * len(told)


def without_label(lines: Sequence[str], hunk: Hunk) -> Hunk:
    """``hunk`` without a first line that is no more than the file's name in a comment."""
    named = commented_path(hunk.lines[0].text) if hunk.lines else None
    if named is None or hunk.lines[0].text in lines:
        return hunk
    same = named.rpartition("/")[2] == hunk.path.rpartition("/")[2]
    return replace(hunk, lines=hunk.lines[1:]) if same else hunk


def divided(
    lines: Sequence[str], hunk: Hunk, before: Sequence[Symbol], after: Sequence[Symbol], request: str
) -> tuple[Hunk, ...]:
    """The hunks in which the text of ``hunk`` differs from ``lines``; the hunk itself where it cannot be
    placed, where nothing differs, or where it loses what ``request`` does not ask to lose.

    ``before`` and ``after`` are the definitions of both texts.
    """
    placed = place_whole(lines, hunk)
    if isinstance(placed, Miss) or not lines:
        return (hunk,)
    if PurePosixPath(hunk.path).suffix.lower() in _MARKUP:
        before = ()  # its definitions are headings, which are text as any other
    reading, names = kept(placed.lines, before, after, request)
    parts = tuple(hunks_of(reading, replace(hunk, format=Format.SEARCH_REPLACE)))
    left = [symbol for symbol in before if symbol.name in names]
    loses = _lost(reading, [*after, *left], before, request)
    if loses:
        return (replace(hunk, loses=loses),)
    if names and parts:
        what = ", ".join(names[:_FEW])
        told = f"{hunk.path}: the new text leaves out {what}, which stays"
        parts = (replace(parts[0], kept=told), *parts[1:])
    return parts or (hunk,)


def hunks_of(reading: Sequence[HunkLine], hunk: Hunk) -> Iterator[Hunk]:
    """The hunks of a file's whole ``reading``, like ``hunk`` but for their lines. They land one after the
    other."""
    shift = 0
    for first, last in _spans(reading):
        before = sum(line.kind is not LineKind.NEW for line in reading[:first])
        piece = tuple(reading[first:last])
        yield replace(hunk, lines=piece, line_hint=before + shift + 1)
        new = sum(line.kind is LineKind.NEW for line in piece)
        shift += new - sum(line.kind is LineKind.OLD for line in piece)


def _spans(reading: Sequence[HunkLine]) -> list[tuple[int, int]]:
    """Where each hunk begins and ends in ``reading``, with its context."""
    spans: list[tuple[int, int]] = []
    for index, line in enumerate(reading):
        if line.kind is LineKind.CONTEXT:
            continue
        if spans and index - spans[-1][1] <= _AROUND:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    ends = [0, *(end for _, end in spans)]
    begins = [*(begin for begin, _ in spans[1:]), len(reading)]
    return [
        (max(begin - _AROUND, floor), min(end + _AROUND, ceiling))
        for (begin, end), floor, ceiling in zip(spans, ends, begins, strict=False)
    ]


def _lost(
    reading: Sequence[HunkLine], after: Sequence[Symbol], before: Sequence[Symbol], request: str
) -> str:
    """What the file loses by ``reading`` that ``request`` does not name; empty for nothing."""
    names = sorted({symbol.name for symbol in forgotten(before, after, request)})
    if names:
        return (
            f"the new text of the file has no {', '.join(names[:_FEW])} any more, and nobody asked for that"
        )
    there = {symbol.name for symbol in after}
    wanted = {line for each in before if each.name not in there for line in range(each.start, each.end)}
    old = [line for line in reading if line.kind is not LineKind.NEW]
    size = sum(bool(line.text.strip()) for at, line in enumerate(old) if at not in wanted)
    new = sum(bool(line.text.strip()) for line in reading if line.kind is not LineKind.OLD)
    if size - new > max(_FEW, _MOST_LOST * size):
        return f"the new text of the file lacks {size - new} of its {size} lines"
    return ""
