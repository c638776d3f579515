"""The order of a project's files for a request: rank decides what is in the window, never where it stands.

A blend of evidence, each scaled to at most 1: words of the request in a file (BM25, names and paths
counted double), names shared with changed and named files in either direction, and nearness of paths.
"""

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
_MOST_SHARED = 400
"""Names of the files in hand that are looked up: the rarest."""


class Postings:
    """Which files hold which words: an inverted index that is only ever appended to.

    A file that changes gets a new number; readers hold the numbers of their own snapshot and so never
    see another's. One thread adds, any may look up.
    """

    def __init__(self) -> None:
        self._held: dict[str, array[int]] = {}
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, counted: Mapping[str, int]) -> int:
        """Take in a file's words with their counts; its number."""
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        held = self._held
        shifted = number << _COUNT_BITS
        for word, count in counted.items():
            packed = shifted | (count if count < _MOST_COUNTED else _MOST_COUNTED)
            if word in held:
                held[word].append(packed)
            else:
                held[word] = array("I", (packed,))
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


def file_words(path: str, counted: Mapping[str, int]) -> dict[str, int]:
    """The words a file is found by: those of its content, and its path's, which count double."""
    total = dict(counted)
    for word, count in words(path).items():
        total[word] = total.get(word, 0) + 2 * count
    return total


def rank(
    paths: Iterable[str],
    request: str,
    in_hand: Iterable[str],
    postings: Postings,
    live: Mapping[int, str],
    names: Mapping[str, Iterable[str]],
    uses: Mapping[str, Mapping[str, int]],
) -> list[str]:
    """``paths`` with the likeliest to matter first; ties in path order.

    ``in_hand`` are the changed and named files, which come first of all; ``names`` and ``uses`` give
    the names each of those defines and the words it holds.
    """
    hand = list(dict.fromkeys(in_hand))
    asked = postings.score({word: math.sqrt(count) for word, count in words(request).items()}, live)
    defined = {name.lower() for path in hand for name in names.get(path, ())}
    used: defaultdict[str, int] = defaultdict(int)
    for path in hand:
        for word, count in uses.get(path, {}).items():
            used[word] += count
    rare = sorted(used, key=lambda word: (-len(word), word))[:_MOST_SHARED]
    users = postings.score(dict.fromkeys(sorted(defined)[:_MOST_SHARED], 1.0), live)
    makers = postings.score(dict.fromkeys(rare, 1.0), live)
    around = _folders_around(hand)
    near = {path: _nearness(path, around) for path in paths} if hand else {}
    blend: defaultdict[str, float] = defaultdict(float)
    for scores, weight in ((asked, 1.0), (users, 0.6), (makers, 0.6), (near, 0.4)):
        top = max(scores.values(), default=0.0) or 1.0
        for path, score in scores.items():
            blend[path] += weight * score / top
    first = set(hand)
    return sorted(paths, key=lambda path: (path not in first, -blend[path], path))


def _nearness(path: str, around: frozenset[str]) -> float:
    """How near a path is to the files in hand: the share of its folders that lead to one of them."""
    folder = path.rpartition("/")[0]
    depth = folder.count("/") + 1 if folder else 0
    common = depth
    while folder and folder not in around:
        folder = folder.rpartition("/")[0]
        common -= 1
    return (1 + common) / (1 + depth)


def _folders_around(paths: Iterable[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)
