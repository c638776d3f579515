"""Divides a whole file that a model wrote into the hunks in which it differs from the file on disk.

Small models answer with whole files by nature. Divided, what they changed is shown, judged and undone hunk by
hunk. What such a text loses is looked at first: a model that writes a file from memory forgets its end, a
function below the one that changes, or comments. As long as the file shows where such lines stand, they stay,
and the rest of what the model wrote lands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from edits.files.folding import fold, tells
from edits.formats.openers import commented_path
from edits.hunk import Format, Hunk, HunkLine, LineKind
from edits.newtext.placeholders import PROSE_SUFFIXES
from edits.placing.anchors import Symbol
from edits.placing.found import Miss
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


_REMOVES = re.compile(
    r"\b(?:remov|delet|drop|tak(?:e|ing) out|strip|clean|get rid|without|no longer|unused|mov|shorten|simplif"
    r"|replac|rewrit|only)",
    re.IGNORECASE,
)
_PART = 4
"""Letters of the shortest word that counts as a part of a name."""
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|<!--|;|%)")
_REWRITTEN = 0.5
"""The part of a definition's lines that are in the new lines where it was renamed or rewritten."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Changed lines side by side in a reading; ``start`` is the number of its first old line, from 0."""

    first: int
    last: int
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def forgotten(before: Sequence[Symbol], after: Sequence[Symbol], request: str) -> list[Symbol]:
    """The definitions that the new text has no more and that ``request`` does not name."""
    words = set(re.findall(r"\w+", request))
    there = {symbol.name for symbol in after}
    return [symbol for symbol in before if symbol.name not in there and not _named(symbol.name, words)]


def _named(name: str, words: set[str]) -> bool:
    """Whether one of ``words`` is the name, or a part of it: with ``spread``, ``test_spread`` is renamed."""
    return name in words or any(
        len(word) >= _PART and re.search(rf"(?:\A|_|(?<=[a-z])(?=[A-Z])){word}(?:\Z|_|(?=[A-Z]))", name)
        for word in words
    )


def kept(
    reading: Sequence[HunkLine], before: Sequence[Symbol], after: Sequence[Symbol], request: str
) -> tuple[list[HunkLine], list[str]]:
    """``reading`` with what it forgets as context, and what that is in words."""
    lost = forgotten(before, after, request)
    removes = _REMOVES.search(request) is not None
    typed = set(fold([line.text for line in reading if line.kind is LineKind.NEW]))
    size = sum(line.kind is not LineKind.NEW for line in reading)
    lines: list[HunkLine] = []
    told: list[str] = []
    at = 0
    for run in _runs(reading):
        lines += reading[at : run.first]
        at = run.last
        stay, named = _staying(run, lost, typed)
        if not stay and not removes and not run.new and _is_edge_or_comment(run, size, typed):
            stay, named = set(range(len(run.old))), ["lines"]
        told += named
        lines += _settled(run, stay, _blank_at_end([line.text for line in lines]))
    return [*lines, *reading[at:]], list(dict.fromkeys(told))


def _runs(reading: Sequence[HunkLine]) -> Iterator[_Run]:
    first, number, start = -1, 0, 0
    for index, line in enumerate([*reading, HunkLine(LineKind.CONTEXT, "")]):
        if line.kind is LineKind.CONTEXT:
            if first >= 0:
                piece = reading[first:index]
                old = tuple(each.text for each in piece if each.kind is LineKind.OLD)
                new = tuple(each.text for each in piece if each.kind is LineKind.NEW)
                yield _Run(first, index, start, old, new)
            first = -1
            number += 1
            continue
        if first < 0:
            first, start = index, number
        number += line.kind is LineKind.OLD


def _staying(run: _Run, lost: Sequence[Symbol], typed: set[str]) -> tuple[set[int], list[str]]:
    """The old lines of the run, by their place in it, that are definitions which were forgotten."""
    stay: set[int] = set()
    names: list[str] = []
    for symbol in lost:
        begin, end = symbol.start - run.start, symbol.end - run.start
        if begin < 0 or end > len(run.old):
            continue
        body = [line for line in fold(run.old[begin:end])[1:] if tells(line)]
        if sum(line in typed for line in body) > _REWRITTEN * len(body) or (run.new and not body):
            continue
        while begin > 0 and not run.old[begin - 1].strip():
            begin -= 1
        stay |= set(range(begin, end))
        names.append(symbol.name)
    return stay, names


def _is_edge_or_comment(run: _Run, size: int, typed: set[str]) -> bool:
    """Whether the old lines are the file's beginning or end, or comments, and nowhere in the new text."""
    told = [text for text in run.old if tells(text)]
    if not told or any(line in typed for line in fold(told)):
        return False
    edge = run.start == 0 or run.start + len(run.old) == size
    return edge or all(_COMMENT.match(text) for text in told)


def _settled(run: _Run, stay: set[int], blank: int) -> list[HunkLine]:
    """The run with the old lines that ``stay`` as context, behind its new lines unless those are outside of
    the block that the old ones are in. ``blank`` lines are above it, and as many stand between both."""
    old = [
        HunkLine(LineKind.CONTEXT if at in stay else LineKind.OLD, text) for at, text in enumerate(run.old)
    ]
    new = [HunkLine(LineKind.NEW, text) for text in run.new]
    first = min(stay, default=len(old))
    apart = [HunkLine(LineKind.NEW, "")] * blank
    if not stay or not new:
        return [*old[:first], *new, *old[first:]]
    if _depth([run.old[at] for at in sorted(stay)]) > _depth(run.new):
        return [*old, *apart, *new]
    return [*old[:first], *new, *apart[_blank_at_end(run.new) :], *old[first:]]


def _blank_at_end(texts: Sequence[str]) -> int:
    return next((at for at, text in enumerate(reversed(texts)) if text.strip()), len(texts))


def _depth(lines: Sequence[str]) -> int:
    told = next((text for text in lines if text.strip()), "")
    return len(told) - len(told.lstrip())
