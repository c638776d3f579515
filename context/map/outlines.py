"""Chooses the files to outline in a map without room for all, and how much of each outline to show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from context.map.limits import (
    CHARACTERS_PER_TOKEN,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_TOKENS,
    MOST_FAILURES,
    Count,
)
from context.map.outline_part import WordWeights, cut_outline, word_weights
from context.text.fences import LIST_FENCE

if TYPE_CHECKING:
    from context.find.ranking import Ranking
    from context.project.snapshot import Snapshot

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
