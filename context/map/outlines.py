"""Which files are outlined in a map without room for every outline, and how much of each is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from context.map.limits import CHARACTERS, IN_VAIN, LEAST, SURELY, Count
from context.map.outline_part import Telling, part_of, telling_words

if TYPE_CHECKING:
    from context.find.ranking import Ranking
    from context.project.snapshot import Snapshot

OUTLINES = "### Definitions\n\n"
_TIGHT = 72
"""Characters of a signature."""
_SHARE = 8
"""One outline gets at first this part (an eighth) of the room that is left for all, …"""
_BREADTH = 12
"""… or, of much room, one part in its root by this, so that it goes to more files as well, …"""
_LEAST_SHARE = 40
"""… and so many tokens at least."""
_LEAST_PART = 20
"""Tokens in which no part of an outline is tried."""
_TRIES = 4
"""Times that a part of an outline is chosen, when its characters were more tokens than thought."""


@dataclass(frozen=True, slots=True)
class OutlinesShown:
    """The entries shown, by path, as they are shown; how many of them leave definitions out; files whose
    outlines did not fit, with about how many tokens; and the tokens of all that is shown."""

    entries: dict[str, str]
    in_part: int
    unoutlined: tuple[tuple[str, int], ...]
    tokens: int


def fit_outlines(
    snapshot: Snapshot, ranking: Ranking, room: int, count: Count, whole: frozenset[str]
) -> OutlinesShown:
    """The outlines that fit in ``room`` tokens, those of the files in ``whole`` last of all. Once many in a
    row did not fit, no more are tried: they are named together.

    An outline is at first shown in a share of the room, so that one long file does not stand for many;
    what is left over makes those longer, by rank.
    """
    fitting = _Fitting(room, count, telling_words(ranking.wanted, snapshot.words))
    entries, order = snapshot.entries, ranking.order
    unoutlined: list[tuple[str, int]] = []
    in_vain = 0
    others = (path for path in order if path not in whole)
    for path in chain(others, (path for path in order if path in whole)):
        size = entries.outline_size(path)
        if not size:
            continue
        if fitting.left >= LEAST and fitting.add(path, tight_block(entries.block(path))):
            in_vain = 0
            continue
        unoutlined.append((path, size // CHARACTERS))
        in_vain += 1
        if in_vain == IN_VAIN:
            break
    fitting.grow()
    rest = len(entries) - len(fitting.shown) - len(unoutlined)
    if in_vain == IN_VAIN and rest > 0:
        unoutlined.append((f"{rest} more files", 0))
    return OutlinesShown(fitting.shown, len(fitting.cut), tuple(unoutlined), fitting.spent)


class _Fitting:
    """The outlines chosen so far. ``shown`` are the entries as they are shown, ``cut`` the whole of those
    that leave definitions out."""

    def __init__(self, room: int, count: Count, telling: Telling) -> None:
        self.shown: dict[str, str] = {}
        self.cut: dict[str, str] = {}
        self.spent = 0
        self._room, self._count, self._telling = room, count, telling
        self._share = max(_SHARE, room**0.5 / _BREADTH)
        self._heading = count(OUTLINES)
        self._costs: dict[str, int] = {}

    @property
    def left(self) -> int:
        """Tokens that further entries may take."""
        return self._room - self.spent - (0 if self.shown else self._heading)

    def add(self, path: str, block: str) -> bool:
        """Show an entry in its share of the room; whether anything of it fits."""
        left = self.left
        shown, cost = self._fit(block, min(left, max(_LEAST_SHARE, int(left / self._share))))
        if not shown:
            return False
        self.spent += cost + (0 if self.shown else self._heading)
        self.shown[path], self._costs[path] = shown, cost
        if shown != block:
            self.cut[path] = block
        return True

    def grow(self) -> None:
        """Spend what is left on the entries that are cut, the first ones first."""
        for path, block in list(self.cut.items()):
            if self.left < _LEAST_SHARE:
                break
            before = self._costs[path]
            shown, cost = self._fit(block, self.left + before)
            if cost > before:
                self.spent += cost - before
                self.shown[path], self._costs[path] = shown, cost
                if shown == block:
                    del self.cut[path]

    def _fit(self, block: str, room: int) -> tuple[str, int]:
        """As much of an entry as fits in ``room`` tokens, with its tokens; empty where nothing does."""
        if len(block) <= room * SURELY:
            cost = self._count(block)
            if cost <= room:
                return block, cost
        if room < _LEAST_PART:
            return "", 0
        characters = room * CHARACTERS
        for _ in range(_TRIES):
            shown = part_of(block, self._telling, characters)
            cost = self._count(shown)
            if cost <= room:
                return shown, cost
            characters = characters * room // (cost + 2)
        return "", 0


@lru_cache(maxsize=20_000)
def tight_block(block: str) -> str:
    """A file's entry where room is short: long signatures cut, documentation left out."""
    lines = block.split("\n")
    cut = [line.partition(" — ")[0] for line in lines[1:]]
    return "\n".join([lines[0], *(line if len(line) <= _TIGHT else f"{line[: _TIGHT - 1]}…" for line in cut)])
