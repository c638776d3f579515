"""Chooses the parts of files that nobody named and that match a request best.

The passages of all likely files take part in one contest. A passage's score estimates how likely the request
is about it, as a logarithm: a weighted sum of its BM25 score, with the rarity of words among these passages,
and of what its file tells. The weights were fitted to the passages that past commits edited (see
docs/benchmarks.md).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from context.find.named_definitions import asks_aside, is_aside
from context.find.order import Ranking
from context.index.file_text import FileText, kept_with_file
from context.project.snapshot import Snapshot
from context.text.words import words_of_name
from context.window.passage_words import count_words
from context.window.passages import passages

_MOST_WORDS = 80
"""Number of words that passages are scored by: those with the most weight."""
_K1, _B = 1.2, 0.5
_TYPICAL = 1_600
"""Length in characters of a typical passage."""
_PASSAGE_WEIGHT, _FILE_WEIGHT = 2.0, 1.5
"""Weights of a passage's BM25 score and of its file's score; the best of each is 1."""
_RANK_WEIGHT = 0.5
"""Weight of the logarithm of a file's place in the order of likely files."""
_LENGTH_WEIGHT = 0.35
"""Weight of the logarithm of a file's length: of a short file, any part is likely to be the right one."""
_SHORT_FILE, _TYPICAL_FILE = 800, 4_000
"""Lengths in characters: of a file that no shorter one is preferred to, and of a typical one."""
_PATH_WEIGHT = 1.3
"""Weight of a path that surely has words of the request."""
_ASIDE_WEIGHT = 0.5
"""What a file of tests or examples has less, unless the request asks for such files. Those of a file in hand
are told by what changes together with it."""
_FADE = 0.5
"""Weight of the logarithm of the number of a file's passages so far, so that more files are shown."""
_MOST_KNOWN = 1_000
"""Number of words whose places in one file are kept."""
_SURE = 1.0
"""Number of rare words whose score shows that a passage is about the request."""

FIRST = -math.inf
"""The negated score of a part that comes before all others."""


class Part(NamedTuple):
    """A passage of a file, and how well it matches. ``sure`` says that its words alone show it."""

    negated: float
    """The negated score: so parts are in order with the best first, equal ones as they are in the project."""
    path: str
    start: int
    stop: int
    size: int
    """Length in characters."""
    sure: bool

    @property
    def lines(self) -> range:
        """The lines as indices from 0."""
        return range(self.start, self.stop)


def first_parts(file: FileText, ranges: Iterable[range]) -> list[Part]:
    """Line ranges of a file as parts that come before all others."""
    starts, path = file.starts, file.source.path
    return [
        Part(FIRST, path, lines.start, lines.stop, starts[lines.stop] - starts[lines.start], sure=True)
        for lines in ranges
        if lines
    ]


def shortlist(
    files: Mapping[str, FileText],
    scores: Mapping[str, float],
    wanted: Mapping[str, float],
    ranking: Ranking,
    snapshot: Snapshot,
    most: int,
) -> dict[str, FileText]:
    """At most ``most`` of the files: those with the best stretch of text, estimated without parsing."""
    if len(files) <= most:
        return dict(files)
    rough = _rough_weights(wanted, snapshot)
    discount = ranking.order.discount
    found = {path: _best_stretch(file, rough) * discount(path) for path, file in files.items()}
    top = max(found.values(), default=0.0) or 1.0
    priors = _priors(files, scores, ranking, snapshot)
    values = {path: _PASSAGE_WEIGHT * found[path] / top + priors[path] for path in files}
    taken = sorted(values, key=lambda path: (-values[path], path))[:most]
    return {path: files[path] for path in taken}


def _best_stretch(file: FileText, weights: Mapping[str, float]) -> float:
    """The largest sum of the weights of the words in one stretch of a file."""
    known = _known_stretches(file)
    if len(known) > _MOST_KNOWN:
        known.clear()
    sums: dict[int, float] = {}
    for word, weight in weights.items():
        found = known.get(word)
        if found is None:
            found = known[word] = tuple(_stretches(file.lowered, word))
        for stretch in found:
            sums[stretch] = sums.get(stretch, 0.0) + weight
    return max(sums.values(), default=0.0)


@kept_with_file
def _known_stretches(_: FileText) -> dict[str, tuple[int, ...]]:
    """The stretches that have a word, by word: filled in as they are found."""
    return {}


def _stretches(text: str, word: str) -> Iterator[int]:
    """The numbers of the stretches in which a word begins."""
    at = text.find(word)
    while at >= 0:
        stretch = at // _TYPICAL
        yield stretch
        at = text.find(word, (stretch + 1) * _TYPICAL)


def contest(
    files: Mapping[str, FileText],
    scores: Mapping[str, float],
    wanted: Mapping[str, float],
    ranking: Ranking,
    snapshot: Snapshot,
    *,
    every: bool = False,
) -> list[Part]:
    """The passages of likely files that match the weighted words ``wanted``, best first; with ``every``, all
    other passages behind them. ``scores`` has the score of each file, the likeliest one first."""
    words_counted = {word: wanted[word] for word in _rough_weights(wanted, snapshot)}
    counted = count_words(files, words_counted)
    total = sum(len(passages(file)) for file in files.values())
    weights = _weighed(counted.values(), words_counted, total)
    discount = ranking.order.discount
    scored = {path: _scored(file, counted[path], weights, discount(path)) for path, file in files.items()}
    top = max((max(found, default=0.0) for found in scored.values()), default=0.0) or 1.0
    priors = _priors(files, scores, ranking, snapshot)
    sure = _sure(snapshot)
    matching: list[Part] = []
    others: list[Part] = []
    for path, values in scored.items():
        found = passages(files[path])
        best_first = sorted(range(len(found)), key=values.__getitem__, reverse=True)
        for place, number in enumerate(best_first, start=1):
            value = values[number]
            # A file that is likely for other reasons has one passage among those that match.
            matches = value > 0 or place == 1
            if not matches and not every:
                break
            score = _PASSAGE_WEIGHT * value / top + priors[path] - _FADE * math.log(place)
            start, stop = found.lines[number], found.lines[number + 1]
            part = Part(-score, path, start, stop, found.size(number), value >= sure)
            (matching if matches else others).append(part)
    return [*sorted(matching), *sorted(others)]


def _sure(snapshot: Snapshot) -> float:
    """The score of so many rare words that what has them is about the request."""
    return _SURE * math.log(2 + snapshot.words.files)


def _priors(
    files: Mapping[str, FileText], scores: Mapping[str, float], ranking: Ranking, snapshot: Snapshot
) -> dict[str, float]:
    """What each file adds to the scores of its passages."""
    best = max(scores.values(), default=0.0) or 1.0
    place = {path: number for number, path in enumerate(scores, start=1)}
    sure = _sure(snapshot)
    aside = 0.0 if ranking.order.first or asks_aside(ranking.asked) else _ASIDE_WEIGHT
    priors = {}
    for path, file in files.items():
        named = sum(
            ranking.asked.get(word, 0.0) * snapshot.words.rarity(word) for word in words_of_name(path)
        )
        length = max(_SHORT_FILE, len(file.source.text))
        priors[path] = (
            _FILE_WEIGHT * scores[path] / best
            - _RANK_WEIGHT * math.log(place[path])
            - _LENGTH_WEIGHT * math.log(length / _TYPICAL_FILE)
            + _PATH_WEIGHT * min(1.0, named / sure)
            - (aside if is_aside(path) else 0.0)
        )
    return priors


def _weighed(
    counted: Iterable[Mapping[str, Mapping[int, int]]], wanted: Mapping[str, float], total: int
) -> dict[str, float]:
    """The words weighted by how rare they are among the ``total`` passages of all files."""
    held = dict.fromkeys(wanted, 0)
    for counts in counted:
        for word, by_passage in counts.items():
            held[word] += len(by_passage)
    return {
        word: weight * math.log(1 + (total - held[word] + 0.5) / (held[word] + 0.5))
        for word, weight in wanted.items()
    }


def _rough_weights(wanted: Mapping[str, float], snapshot: Snapshot) -> dict[str, float]:
    """The words with the most weight, by how rare they are among all files."""
    rough = {word: weight * snapshot.words.rarity(word) for word, weight in wanted.items()}
    chosen = sorted(rough, key=lambda word: (-rough[word], word))[:_MOST_WORDS]
    return {word: rough[word] for word in chosen}


def _scored(
    file: FileText, counts: Mapping[str, Mapping[int, int]], weights: Mapping[str, float], factor: float
) -> list[float]:
    """The scores of the passages of a file."""
    norms = _norms(file)
    scores = [0.0] * len(norms)
    for word, weight in weights.items():
        for number, count in counts.get(word, {}).items():
            scores[number] += weight * count * (_K1 + 1) / (count + norms[number])
    return [score * factor for score in scores]


@kept_with_file
def _norms(file: FileText) -> array[float]:
    """By how much the length of each passage of a file makes its words count less."""
    found = passages(file)
    return array("d", [_K1 * (1 - _B + _B * found.size(number) / _TYPICAL) for number in range(len(found))])
