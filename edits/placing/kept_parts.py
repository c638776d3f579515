"""Keeps what a whole file that a model wrote leaves out although nobody asked for that.

A model that writes a file from memory forgets its end, a function below the one that changes, or comments. As
long as the file shows where such lines stand, they stay, and the rest of what the model wrote lands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edits.files.folding import fold, tells
from edits.hunk import HunkLine, LineKind
from edits.placing.anchors import Symbol

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
