"""Reads a suggestion from a model's answer, as far as it has come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from session.assist.suggest.suggestion import Insertion, Place, Suggestion, rewrite
from session.base.text.sanitize import clean

MOST_LINES = 10
"""Lines of an insertion; the rest of an answer is left out."""
_LONGEST_LINE = 400
LONGEST = 2 * MOST_LINES * _LONGEST_LINE
"""Characters after which an answer is no suggestion any more."""
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n")
_WORD = re.compile(r"\w+|[^\w\s]")
_LEAST_OVERLAP = 3
"""Characters of a line of its own that a repetition must have, to be one and not chance."""


@dataclass(frozen=True, slots=True)
class Region:
    """What is asked to be written anew: the lines ``old`` from row ``first`` on."""

    first: int
    old: tuple[str, ...]


def read_insertion(place: Place, said: str, *, whole: bool) -> Insertion | None:
    """The insertion that an answer holds so far; None where there is none, or where it does not fit between
    what is left and right of the cursor. ``whole`` says that nothing follows; before that
    only whole lines count."""
    text = _unfenced(said, whole=whole)
    if text is not None and not whole:
        text = text[: text.rfind("\n") + 1]  # a line that still grows would be taken in half
    if text is None or clean(text) != text:  # what cannot be seen is not suggested
        return None
    text = _without_repeated_start(place, text)
    # A repetition of what follows shows only at the end.
    text = _without_repeated_end(place, text.rstrip()) if whole else text.rstrip()
    lines = text.split("\n")[:MOST_LINES]
    text = "\n".join(line.rstrip() if number else line for number, line in enumerate(lines)).rstrip()
    if place.right.strip() and "\n" in text:
        text = text.partition("\n")[0].rstrip()
    if not text or any(len(line) > _LONGEST_LINE for line in lines):
        return None
    return Insertion(place, text)


def read_rewrite(place: Place, region: Region, said: str) -> Suggestion | None:
    """The suggestion in a whole answer, which is the region's lines as they should be; None where they stay,
    or where the answer is something else."""
    text = _unfenced(said, whole=True)
    if text is None or clean(text) != text:
        return None
    old = tuple(line.rstrip() for line in region.old)
    lead, tail = _blank(old), _blank(old[::-1])
    said_lines = [line.rstrip() for line in text.split("\n")]
    body = said_lines[_blank(said_lines) : len(said_lines) - _blank(said_lines[::-1])]
    new = (*old[:lead], *body, *old[len(old) - tail :])
    if not body or len(new) > len(old) + MOST_LINES or max(map(len, new)) > _LONGEST_LINE:
        return None
    if lead == len(old) or not _resembles(old, new):
        return None
    # Lines that only lost the space at their end stay as they are.
    kept = {line.rstrip(): line for line in region.old if line.strip()}
    new = (*region.old[:lead], *(kept.get(line, line) for line in body), *region.old[len(old) - tail :])
    return rewrite(place, region.first, region.old, new)


def _blank(lines: Sequence[str]) -> int:
    """The number of blank lines at the beginning."""
    return next((number for number, line in enumerate(lines) if line), len(lines))


def _unfenced(text: str, *, whole: bool) -> str | None:
    """The text without a fence around it; None while it is not known whether there is one."""
    bare = text.lstrip("\n ")
    if not bare.startswith("`"):
        return text
    if not whole and not _FENCE.match(bare):
        return None
    opened = _FENCE.match(bare)
    if opened is None:
        return text
    body = bare[opened.end() :]
    end = body.find("\n```")
    if end >= 0:
        return body[:end]
    return body.removesuffix("```") if whole else body.rstrip("`")


def _without_repeated_start(place: Place, text: str) -> str:
    """``text`` without the line's beginning, which models like to repeat."""
    bare = place.left.strip()
    if len(bare) >= _LEAST_OVERLAP:
        for start in (place.left, place.left.lstrip()):
            if text.startswith(start):
                return text[len(start) :]
    return text


def _without_repeated_end(place: Place, text: str) -> str:
    """``text`` without what stands behind the cursor already."""
    right = place.right.rstrip()
    if right and text.endswith(right):
        text = text[: len(text) - len(right)]
    after = [line.rstrip() for line in place.after]
    lines = text.split("\n")
    while after and after[0] == "" and len(after) > 1:
        after = after[1:]
    for start in range(1, len(lines)):
        tail = [line.rstrip() for line in lines[start:] if line.strip()]
        if not tail:
            continue
        follows = [line for line in after if line.strip()][: len(tail)]
        if follows == tail and len("".join(tail).strip()) >= _LEAST_OVERLAP:
            return "\n".join(lines[:start]).rstrip()
    return text


def _resembles(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether most of the words stay, in their order: a small rewrite, and not other code or prose."""
    before, after = (_WORD.findall("\n".join(lines)) for lines in (old, new))
    return 4 * _in_common(before, after) >= len(before) + len(after)


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence; a bit of an integer is a word of ``one`` (Hyyrö, 2004).
    An answer that keeps difflib busy for a minute takes milliseconds here."""
    places: dict[str, int] = {}
    for number, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << number
    row = every = (1 << len(one)) - 1
    for word in other:
        same = row & places.get(word, 0)
        row = ((row + same) | (row - same)) & every
    return len(one) - row.bit_count()
