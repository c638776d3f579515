"""Chooses the files to outline in a map without room for all, and how much of each outline to show.

Cuts a file's outline to the definitions that match a request best, for a map without more room.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from context.map.blocks import (
    CHARACTERS_PER_TOKEN,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_TOKENS,
    MOST_FAILURES,
    Count,
)
from context.text.safe import LIST_FENCE

if TYPE_CHECKING:
    from context.find.order import Ranking
    from context.index.postings import Words
    from context.project.snapshot import Snapshot


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


OUTLINES = f"{LIST_FENCE}\n### Definitions\n\n{LIST_FENCE}"
"""Ends the list of paths, and begins that of outlines."""
_SIGNATURE, _SMALL_SIGNATURE = 72, 48
"""Lengths in characters that signatures are cut to: in a large map, and in a small one."""
_SMALL_MAP = 32_000
"""Number of tokens up to which a map is small."""
_SHARE = 8
"""At first, one outline may take this fraction (an eighth) of the room that is left."""
_MIN_SHARE = 40
"""Number of tokens that one outline may take in any case."""
_MIN_PART = 20
"""Number of tokens below which no part of an outline is tried."""
_MOST_TRIES = 4
"""Number of attempts to cut an outline, since its tokens are estimated from its characters."""


@dataclass(frozen=True, slots=True)
class OutlinesShown:
    """The entries shown, by path; the number of them that are cut; the files whose outlines did not fit, with
    their estimated tokens; and the tokens of all entries shown."""

    entries: dict[str, str]
    in_part: int
    unoutlined: tuple[tuple[str, int], ...]
    tokens: int


def fit_outlines(
    snapshot: Snapshot, ranking: Ranking, room: int, count: Count, whole: frozenset[str]
) -> OutlinesShown:
    """The outlines that fit in ``room`` tokens, those of the files in ``whole`` last."""
    order = ranking.order
    others = (path for path in order if path not in whole)
    paths = chain(others, (path for path in order if path in whole))
    return outlines_of(paths, snapshot, ranking, room, count, OUTLINES)


def outlines_of(
    paths: Iterable[str], snapshot: Snapshot, ranking: Ranking, room: int, count: Count, heading: str
) -> OutlinesShown:
    """The outlines of ``paths`` that fit in ``room`` tokens below a heading, whose tokens count too.

    Each outline first gets a share of the room, so that one long file does not crowd out many others; the
    room left over extends the cut ones, by rank. Once many files in a row did not fit, the rest is only
    counted.
    """
    fitting = _Fitting(room, count, word_weights(ranking.wanted, snapshot.words), count(heading))
    entries = snapshot.entries
    longest = _SMALL_SIGNATURE if room <= _SMALL_MAP else _SIGNATURE
    unoutlined: list[tuple[str, int]] = []
    failures = 0
    for path in paths:
        size = entries.outline_size(path)
        if not size:
            continue
        if fitting.left >= MIN_TOKENS and fitting.add(path, short_block(entries.block(path), longest)):
            failures = 0
            continue
        unoutlined.append((path, size // CHARACTERS_PER_TOKEN))
        failures += 1
        if failures == MOST_FAILURES:
            break
    fitting.grow()
    rest = len(entries) - len(fitting.shown) - len(unoutlined)
    if failures == MOST_FAILURES and rest > 0:
        unoutlined.append((f"{rest} more files", 0))
    return OutlinesShown(fitting.shown, len(fitting.cut), tuple(unoutlined), fitting.spent)


class _Fitting:
    """The outlines chosen so far: ``shown`` are the entries as shown, ``cut`` those of them that were cut, in
    full."""

    def __init__(self, room: int, count: Count, weights: WordWeights, heading: int) -> None:
        self.shown: dict[str, str] = {}
        self.cut: dict[str, str] = {}
        self.spent = 0
        self._room, self._count, self._telling = room, count, weights
        self._heading = heading
        self._costs: dict[str, int] = {}

    @property
    def left(self) -> int:
        """Tokens that further entries may take."""
        return self._room - self.spent - (0 if self.shown else self._heading)

    def add(self, path: str, block: str) -> bool:
        """Show an entry in its share of the room; False if nothing of it fits."""
        left = self.left
        shown, cost = self._fit(block, min(left, max(_MIN_SHARE, left // _SHARE)))
        if not shown:
            return False
        self.spent += cost + (0 if self.shown else self._heading)
        self.shown[path], self._costs[path] = shown, cost
        if shown != block:
            self.cut[path] = block
        return True

    def grow(self) -> None:
        """Spend the room that is left on the cut entries, in the order in which they were added."""
        for path, block in list(self.cut.items()):
            if self.left < _MIN_SHARE:
                break
            before = self._costs[path]
            shown, cost = self._fit(block, self.left + before)
            if cost > before:
                self.spent += cost - before
                self.shown[path], self._costs[path] = shown, cost
                if shown == block:
                    del self.cut[path]

    def _fit(self, block: str, room: int) -> tuple[str, int]:
        """As much of an entry as fits in ``room`` tokens, and its tokens; empty if nothing fits."""
        if len(block) <= room * MAX_CHARACTERS_PER_TOKEN:
            cost = self._count(block)
            if cost <= room:
                return block, cost
        if room < _MIN_PART:
            return "", 0
        characters = room * CHARACTERS_PER_TOKEN
        for _ in range(_MOST_TRIES):
            shown = cut_outline(block, self._telling, characters)
            cost = self._count(shown)
            if cost <= room:
                return shown, cost
            characters = min(characters * room // (cost + 2), len(shown) - 1)
        return "", 0


@lru_cache(maxsize=20_000)
def short_block(block: str, longest: int) -> str:
    """A file's entry with signatures of at most ``longest`` characters, and without documentation."""
    lines = block.split("\n")
    cut = [line.partition(" — ")[0] for line in lines[1:]]
    return "\n".join(
        [
            lines[0],
            *(line if len(line) <= longest else f"{line[: longest - 1]}…" for line in cut),
        ]
    )
