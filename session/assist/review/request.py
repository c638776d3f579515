"""What a model is sent for a review: the changed lines with their numbers and what is around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from context.text.safe import fenced, harmless
from session.assist.review.change import AROUND, ReviewedFile
from session.wire.instructions import DATA_HEAD, review_instructions

ASK = "Review this change. Answer with findings, one JSON object a line, or with the one word: nothing."
LONGEST = 90_000
"""Characters of one request: a change that is longer is sent in several."""
_CUT = " (cut here)"
_BACKTICKS = re.compile("`{20,}")
"""No language has so many; a fence around them would be as long."""
_FENCE = 40
"""Characters of the fences around fewer backticks."""


def instructions(*, security: bool) -> str:
    """The instructions for a review; with ``security`` for one that looks for holes alone."""
    return review_instructions(security=security).text


def requests(files: Sequence[ReviewedFile], longest: int = LONGEST) -> Iterator[str]:
    """The change as texts of at most ``longest`` characters each, a file in one where it fits. A larger file
    is split between its changes, and a larger change between its lines; only a longer line is cut."""
    parts: list[str] = []
    size = len(DATA_HEAD)
    for file in files:
        for part in _parts(file, longest - len(DATA_HEAD)):
            if parts and size + len(part) > longest:
                yield DATA_HEAD + "".join(parts)
                parts, size = [], len(DATA_HEAD)
            parts.append(part)
            size += len(part)
    if parts:
        yield DATA_HEAD + "".join(parts)


def _parts(file: ReviewedFile, longest: int) -> Iterator[str]:
    whole = _shown(file.path, list(_lines(file, 0, len(file.changes))))
    if len(whole) <= longest:
        yield whole
        return
    room = longest - len(_shown(file.path, [])) - _FENCE
    for number in range(len(file.changes)):
        part: list[str] = []
        size = 0
        for line in _lines(file, number, number + 1):
            line = _clipped(line, room - 1)
            if part and size + len(line) >= room:
                yield _shown(file.path, part)
                part, size = [], 0
            part.append(line)
            size += len(line) + 1
        yield _shown(file.path, part)


def _clipped(line: str, longest: int) -> str:
    kept = _BACKTICKS.split(line, maxsplit=1)[0]
    if len(kept) == len(line) <= longest:
        return line
    return kept[: longest - len(_CUT)] + _CUT


def _shown(path: str, lines: Sequence[str]) -> str:
    text = "\n".join(map(harmless, lines))
    return f"{harmless(path)}:\n{fenced('', text)}\n"


def _lines(file: ReviewedFile, first: int, last: int) -> Iterator[str]:
    """The changes ``first`` to ``last`` of a file, each line with its number now, ``-`` for one that is gone
    and ``+`` for one that is new."""
    before, after = file.masked
    at = 0
    for index in range(first, last):
        change = file.changes[index]
        begin = max(at, change.new_start - AROUND)
        if begin > at:
            yield "…"
        yield from (f"{number + 1:>6}   {after[number]}" for number in range(begin, change.new_start))
        yield from (f"     - - {line}" for line in before[change.start : change.end])
        new = range(change.new_start, change.new_end)
        yield from (f"{number + 1:>6} + {after[number]}" for number in new)
        following = file.changes[index + 1].new_start if index + 1 < last else len(after)
        at = min(change.new_end + AROUND, following)
        yield from (f"{number + 1:>6}   {after[number]}" for number in range(change.new_end, at))
