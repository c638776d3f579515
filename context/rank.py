"""The order of a project's files for a request: rank decides what is in the window, never where it stands.

A blend of evidence, each scaled to at most 1: words of the request in a file (BM25, names and paths
counted double), names shared with changed and named files in either direction, and nearness of paths.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from context.words import words

_K1 = 1.2
_B = 0.75
_MOST_SHARED = 400
"""Names of the files in hand that are looked up: the rarest."""


class Postings:
    """Which files hold which words: an inverted index that is only ever appended to.

    A file that changes gets a new number; readers hold the numbers of their own snapshot and so never
    see another's. One thread adds, any may look up.
    """

    def __init__(self) -> None:
        self._files: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._counts: defaultdict[str, array[int]] = defaultdict(lambda: array("H"))
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, counted: Mapping[str, int]) -> int:
        """Take in a file's words with their counts; its number."""
        number = len(self._lengths)
        self._lengths.append(sum(counted.values()))
        for word, count in counted.items():
            # The count first: a reader that sees the file's number finds its count.
            self._counts[word].append(min(count, 65_535))
            self._files[word].append(number)
        return number

    def score(self, wanted: Mapping[str, float], live: Mapping[int, str]) -> dict[str, float]:
        """BM25 of each live file (by path) for weighted words; files without any are left out."""
        scores: defaultdict[str, float] = defaultdict(float)
        if not live:
            return {}
        average = sum(self._lengths[number] for number in live) / len(live) or 1.0
        for word, weight in wanted.items():
            numbers = self._files.get(word)
            if numbers is None:
                continue
            held = [
                (number, self._counts[word][at]) for at, number in enumerate(numbers[:]) if number in live
            ]
            rarity = math.log(1 + (len(live) - len(held) + 0.5) / (len(held) + 0.5))
            for number, count in held:
                length = 1 - _B + _B * self._lengths[number] / average
                scores[live[number]] += weight * rarity * count * (_K1 + 1) / (count + _K1 * length)
        return dict(scores)


def file_words(path: str, names: Iterable[str], counted: Mapping[str, int]) -> dict[str, int]:
    """The words a file is found by: its text's, and again those of its path and its defined names."""
    total = dict(counted)
    for word, count in words(" ".join([path, *names])).items():
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
    near = {path: _nearness(path, hand) for path in paths}
    blend: defaultdict[str, float] = defaultdict(float)
    for scores, weight in ((asked, 1.0), (users, 0.6), (makers, 0.6), (near, 0.4)):
        top = max(scores.values(), default=0.0) or 1.0
        for path, score in scores.items():
            blend[path] += weight * score / top
    first = set(hand)
    return sorted(paths, key=lambda path: (path not in first, -blend[path], path))


def _nearness(path: str, hand: list[str]) -> float:
    """How near the path is to the nearest of the files in hand: the share of folders in common."""
    folders = PurePosixPath(path).parent.parts
    best = 0.0
    for other in hand:
        others = PurePosixPath(other).parent.parts
        common = 0
        for mine, theirs in zip(folders, others, strict=False):
            if mine != theirs:
                break
            common += 1
        best = max(best, (1 + common) / (1 + max(len(folders), len(others))))
    return best
