"""Which files hold which words, and which define which names: an inverted index for ranking."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping

from context.words import words

_K1 = 1.2
_B = 0.75
_COUNT_BITS = 6
_MOST_COUNTED = (1 << _COUNT_BITS) - 1
_SURE = 2.5
"""A best score of this many of the rarest words counts as sure; a lower one scales all scores down."""


class Postings:
    """An inverted index that is only ever appended to.

    A file that changes gets a new number; readers hold the numbers of their own snapshot and so never
    see another's. One thread adds, any may look up.
    """

    def __init__(self) -> None:
        self._held: dict[str, array[int]] = {}
        self._makers: dict[str, array[int]] = {}
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, counted: Mapping[str, int], names: Iterable[str] = ()) -> int:
        """Take in a file's words with their counts, and the names it defines; its number."""
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        shifted = number << _COUNT_BITS
        for word, count in counted.items():
            packed = shifted | (count if count < _MOST_COUNTED else _MOST_COUNTED)
            _append(self._held, word, packed)
        for name in {name.lower() for name in names}:
            _append(self._makers, name, number)
        return number

    def score(self, wanted: Mapping[str, float], live: Mapping[int, str]) -> dict[str, float]:
        """BM25 of each live file (by path) for weighted words; files without any are left out."""
        scores: defaultdict[str, float] = defaultdict(float)
        if not live:
            return {}
        average = sum(map(self._lengths.__getitem__, live)) / len(live) or 1.0
        for word, weight in wanted.items():
            packed = self._held.get(word)
            if packed is None:
                continue
            # A copy: another thread may append meanwhile.
            pairs = ((number >> _COUNT_BITS, number & _MOST_COUNTED) for number in packed[:])
            held = [(number, count) for number, count in pairs if number in live]
            rarity = math.log(1 + (len(live) - len(held) + 0.5) / (len(held) + 0.5))
            for number, count in held:
                length = 1 - _B + _B * self._lengths[number] / average
                scores[live[number]] += weight * rarity * count * (_K1 + 1) / (count + _K1 * length)
        return dict(scores)

    def makers(self, used: Mapping[str, int], live: Mapping[int, str]) -> dict[str, float]:
        """Each live file's share in defining the used names (lower case, with counts): a name that
        many files define says little about any of them."""
        scores: defaultdict[str, float] = defaultdict(float)
        for name, count in used.items():
            numbers = self._makers.get(name)
            if numbers is None:
                continue
            held = [number for number in numbers[:] if number in live]
            for number in held:
                scores[live[number]] += (1 + math.log(count)) / len(held) ** 1.5
        return dict(scores)

    def defined(self, used: Iterable[str]) -> list[str]:
        """Which of these names (lower case) some file defines."""
        return [name for name in used if name in self._makers]

    def rarity(self, word: str, live: Mapping[int, str]) -> float:
        """How rare a word is among the live files: 0 for one that all hold."""
        packed = self._held.get(word)
        held = 0 if packed is None else len(packed)
        return math.log(1 + max(0.0, len(live) - held + 0.5) / (held + 0.5))

    def sure(self, best: float, live: Mapping[int, str]) -> float:
        """How far a best BM25 score means anything, from 0 to 1: common words alone mean little."""
        return min(1.0, best / (_SURE * math.log(2 + len(live))))


def _append(held: dict[str, array[int]], word: str, value: int) -> None:
    if word in held:
        held[word].append(value)
    else:
        held[word] = array("I", (value,))


def file_words(path: str, counted: Mapping[str, int]) -> dict[str, int]:
    """The words a file is found by: those of its content, and its path's, which count double."""
    total = dict(counted)
    for word, count in words(path).items():
        total[word] = total.get(word, 0) + 2 * count
    return total
