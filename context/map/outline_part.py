"""A part of a file's outline, for a map without room for the whole: the definitions that match best."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context.index.postings import Words

_TELLING = 60
"""Words that definitions are weighed by at most: the rarest."""
_MORE = " … {count} more\n"
_IN_VAIN = 12
"""Lines in a row that did not fit, after which no more are tried."""

Telling = tuple[tuple[str, float], ...]
"""The words that tell most about what is wanted, with what each weighs."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is asked of an entry whatever is wanted: its lines with how far in they stand, and their text in
    small letters with where each begins in it."""

    name: str
    lines: list[str]
    depths: list[int]
    text: str
    starts: list[int]


def telling_words(wanted: Mapping[str, float], words: Words) -> Telling:
    """The weighted words that definitions are scored by."""
    weighed = {word: weight * words.rarity(word) for word, weight in wanted.items()}
    best = sorted(weighed, key=lambda word: (-weighed[word], word))[:_TELLING]
    return tuple((word, weighed[word]) for word in best)


def part_of(block: str, telling: Telling, room: int) -> str:
    """Of a file's entry in the map (its name, then a line a definition) the lines that match best, each with
    those that enclose it, in about ``room`` characters; of lines that match alike the outermost, then the
    first. The last line says how many are left out. Empty when there is no room for one definition."""
    entry = _entry(block)
    name, lines, depths = entry.name, entry.lines, entry.depths
    left = room - len(name) - len(_MORE)
    taken: set[int] = set()
    in_vain = 0
    for at in _order(block, telling):
        if at in taken:
            continue
        adds = _with_enclosing(at, depths, taken)
        cost = sum(len(lines[line]) + 1 for line in adds)
        if cost <= left:
            taken.update(adds)
            left -= cost
            in_vain = 0
            continue
        in_vain += 1
        if in_vain == _IN_VAIN:
            break
    if not taken:
        return ""
    kept = [lines[at] for at in sorted(taken)]
    more = _MORE.format(count=f"{len(lines) - len(kept):,}") if len(kept) < len(lines) else ""
    return "\n".join([name, *kept]) + "\n" + more


@lru_cache(maxsize=128)
def _entry(block: str) -> _Entry:
    name, *lines = block.split("\n")[:-1]
    depths = [len(line) - len(line.lstrip(" ")) for line in lines]
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    text = "\n".join(lines)
    small = text.lower()
    # A letter whose small form is two would put the places wrong.
    return _Entry(name, lines, depths, small if len(small) == len(text) else text, starts)


@lru_cache(maxsize=256)
def _order(block: str, telling: Telling) -> tuple[int, ...]:
    """The lines of an entry, those that match best first: asked for again with less room, and while a window
    is built anew for one request."""
    entry = _entry(block)
    return tuple(dict.fromkeys(_best_first(_scores(entry, telling), entry.depths)))


def _best_first(scores: Mapping[int, float], depths: list[int]) -> Iterator[int]:
    """The lines that match, the best first, then all by how far in they stand."""
    yield from sorted(scores, key=lambda at: (-scores[at], depths[at], at))
    for wanted in sorted(set(depths)):
        yield from (at for at, depth in enumerate(depths) if depth == wanted)


def _with_enclosing(at: int, depths: list[int], taken: set[int]) -> list[int]:
    """A line and the lines around it that are not chosen yet."""
    adds = [at]
    depth = depths[at]
    while depth > 1 and at:
        at -= 1
        if depths[at] < depth:
            depth = depths[at]
            if at in taken:
                break
            adds.append(at)
    return adds


def _scores(entry: _Entry, telling: Telling) -> Mapping[int, float]:
    """The lines that hold words that tell, each with what these weigh."""
    scores: defaultdict[int, float] = defaultdict(float)
    text, starts = entry.text, entry.starts
    for word, weight in telling:
        at = text.find(word)
        while at >= 0:
            line = bisect_right(starts, at) - 1
            scores[line] += weight
            at = text.find(word, starts[line + 1])
    return scores
