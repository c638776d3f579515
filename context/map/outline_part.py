"""Cuts a file's outline to the definitions that match a request best, for a map without more room."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context.index.postings import Words

_MOST_WORDS = 60
"""Number of words that definitions are scored by: the rarest ones."""
_MORE = " … {count} more\n"
_MOST_FAILURES = 12
"""Number of lines in a row that did not fit, after which no more are tried."""

WordWeights = tuple[tuple[str, float], ...]
"""The words that definitions are scored by, with their weights."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file's entry, prepared for scoring: its lines with their indentation, their text, also in lower case,
    and the index at which each line begins.

    Kept as texts and numbers: the garbage collector would look at each value of a list.
    """

    name: str
    depths: array[int]
    text: str
    lowered: str
    starts: array[int]

    def line(self, at: int) -> str:
        """One line without its end."""
        return self.text[self.starts[at] : self.starts[at + 1] - 1]


def word_weights(wanted: Mapping[str, float], words: Words) -> WordWeights:
    """The words that definitions are scored by: the rarest of the wanted ones."""
    weighed = {word: weight * words.rarity(word) for word, weight in wanted.items()}
    best = sorted(weighed, key=lambda word: (-weighed[word], word))[:_MOST_WORDS]
    return tuple((word, weighed[word]) for word in best)


def cut_outline(block: str, weights: WordWeights, room: int) -> str:
    """Cut a file's entry in the map, its name and one line a definition, to about ``room`` characters.

    The lines that match best are kept, each with those that enclose it; of equal matches the outermost ones,
    then the first ones. The last line says how many are left out. Empty if no definition fits.
    """
    entry = _entry(block)
    name, depths, starts = entry.name, entry.depths, entry.starts
    left = room - len(name) - len(_MORE)
    taken: set[int] = set()
    failures = 0
    for at in _order(block, weights):
        if at in taken:
            continue
        cost = starts[at + 1] - starts[at]
        if cost <= left:
            adds = _enclosing(at, depths, taken)
            cost += sum(starts[line + 1] - starts[line] for line in adds)
        if cost <= left:
            taken.add(at)
            taken.update(adds)
            left -= cost
            failures = 0
            continue
        failures += 1
        if failures == _MOST_FAILURES:
            break
    if not taken:
        return ""
    kept = [entry.line(at) for at in sorted(taken)]
    more = _MORE.format(count=f"{len(depths) - len(kept):,}") if len(kept) < len(depths) else ""
    return "\n".join([name, *kept]) + "\n" + more


@lru_cache(maxsize=128)
def _entry(block: str) -> _Entry:
    name, *lines = block.split("\n")[:-1]
    depths = array("I", [len(line) - len(line.lstrip(" ")) for line in lines])
    starts = array("I", accumulate([len(line) + 1 for line in lines], initial=0))
    text = "\n".join(lines)
    small = text.lower()
    # A letter whose lower case has two characters would shift the indices.
    return _Entry(name, depths, text, small if len(small) == len(text) else text, starts)


@lru_cache(maxsize=256)
def _order(block: str, weights: WordWeights) -> array[int]:
    """The indices of an entry's lines, best match first; cached, since a window tries several sizes."""
    entry = _entry(block)
    return array("I", dict.fromkeys(_best_first(_scores(entry, weights), entry.depths)))


def _best_first(scores: Mapping[int, float], depths: array[int]) -> Iterator[int]:
    """The lines that match, best first, and then all lines by indentation."""
    yield from sorted(scores, key=lambda at: (-scores[at], depths[at], at))
    for wanted in sorted(set(depths)):
        yield from (at for at, depth in enumerate(depths) if depth == wanted)


def _enclosing(at: int, depths: array[int], taken: set[int]) -> list[int]:
    """Those of the lines that enclose a line that are not taken yet."""
    adds: list[int] = []
    depth = depths[at]
    while depth > 1 and at:
        at -= 1
        if depths[at] < depth:
            depth = depths[at]
            if at in taken:
                break
            adds.append(at)
    return adds


def _scores(entry: _Entry, weights: WordWeights) -> Mapping[int, float]:
    """The total weight of the words in each line, for lines with any."""
    scores: defaultdict[int, float] = defaultdict(float)
    text, starts = entry.lowered, entry.starts
    for word, weight in weights:
        at = text.find(word)
        while at >= 0:
            line = bisect_right(starts, at) - 1
            scores[line] += weight
            at = text.find(word, starts[line + 1])
    return scores
