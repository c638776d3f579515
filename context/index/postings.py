"""The inverted index of one state of the project, for ranking: which files have or define which words."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest, nsmallest
from typing import Any, TypeVar

from context.index.entries import Entries, place, split_place
from context.index.part import COUNT_BITS, MOST_COUNTED, Part, Postings
from context.text.words import UNEDITED, definition_term, stem_term

_T = TypeVar("_T")

_K1 = 1.2
_B = 0.75
_CERTAIN = 2.5
"""Number of the rarest words whose score counts as certain; lower best scores scale all scores down."""
_MOST_READ = 20_000
"""Number of postings that are read in full for one query, those of rare words first."""
_MOST_CHECKED = 800
"""Number of the best files so far that the remaining, common words are looked up in."""
_MOST_COMMON = 24
"""Number of common words that are looked up."""
_MOST_NAMED = 1_200
"""Number of files in one result: the best ones."""
_PER_LOOK_UP = 12
"""Number of postings that can be read in the time that it takes to look one up."""


def _zeros(mask: bytes) -> Iterator[int]:
    """Where ``mask`` has a zero. After a save there are few of them among many thousand files."""
    at = mask.find(0)
    while at >= 0:
        yield at
        at = mask.find(0, at + 1)


@dataclass(frozen=True, slots=True)
class _Term:
    """The postings of one term, by part of the index."""

    weight: float
    rarity: float
    files: int
    """The number of live files with it."""
    lists: list[tuple[int, Postings]]


@dataclass(frozen=True)
class Words:
    """An inverted index over the parts of a project's index.

    ``live`` has a byte for each file of each part, 0 for an outdated one. ``files`` and ``length`` are the
    numbers of live files and of their words.
    """

    parts: tuple[Part, ...] = ()
    live: tuple[bytes, ...] = ()
    files: int = 0
    length: int = 0
    _kept: dict[str, tuple[object, Any]] = field(default_factory=dict, compare=False)
    _rarities: dict[str, float] = field(default_factory=dict, compare=False)

    def without(self, places: Iterable[int]) -> Words:
        """The index without the files at these places."""
        live = [bytearray(mask) for mask in self.live]
        for at in places:
            index, number = split_place(at)
            live[index][number] = 0
        return Words(self.parts, tuple(map(bytes, live)), self.files, self.length)

    def kept(self, what: str, key: object, work: Callable[[], _T]) -> _T:
        """The result of ``work``, kept in this state of the index until it is asked for with another key.

        While the user types, the same state is ranked again and again.
        """
        known = self._kept.get(what)
        if known is not None and known[0] == key:
            found: _T = known[1]
            return found
        found = work()
        self._kept[what] = key, found
        return found

    def score(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """The BM25 score of each file by path, for weighted words; files without any of them are left out.

        It is exact for rare words; very common words are only looked up in the best files that the rarer
        words found.
        """
        average = self.length / self.files if self.files else 1.0
        scores: defaultdict[int, float] = defaultdict(float)
        read = 0
        common: list[_Term] = []
        for held in sorted(self._terms(wanted), key=lambda held: -held.rarity):
            if scores and read + held.files > _MOST_READ:
                common.append(held)
                continue
            read += held.files
            for index, postings in held.lists:
                self._add(scores, index, postings, held.weight * held.rarity, average)
        if common:
            best = self._best(scores, _MOST_CHECKED)
            for held in common[:_MOST_COMMON]:
                self._look_up(scores, best, held, average)
        return self.by_path(scores)

    def score_of(
        self, paths: Iterable[str], entries: Entries, wanted: Mapping[str, float]
    ) -> dict[str, float]:
        """The exact BM25 scores of some files; ``entries`` are of the same state of the index."""
        places = {path: at for path in paths if (at := entries.place(path)) is not None}
        average = self.length / self.files if self.files else 1.0
        scores: dict[int, float] = dict.fromkeys(places.values(), 0.0)
        for held in self._terms(wanted):
            self._look_up(scores, list(scores), held, average)
        return {path: scores[at] for path, at in places.items()}

    def _terms(self, wanted: Mapping[str, float]) -> Iterator[_Term]:
        for word, weight in wanted.items():
            lists = self._lists(word)
            if lists:
                held = self._count(lists)
                rarity = math.log(1 + (self.files - held + 0.5) / (held + 0.5))
                yield _Term(weight, max(0.0, rarity), held, lists)

    def _lists(self, term: str) -> list[tuple[int, Postings]]:
        lists = []
        for index, part in self._filled_parts:
            postings = part.postings(term)
            if postings is not None:
                lists.append((index, postings))
        return lists

    @cached_property
    def _filled_parts(self) -> list[tuple[int, Part]]:
        """The parts that are not empty."""
        return [(index, part) for index, part in enumerate(self.parts) if len(part)]

    def _count(self, lists: list[tuple[int, Postings]]) -> int:
        """The number of live files with a term. It is exact, since how worker processes split the files
        between the parts differs from run to run."""
        count = 0
        for index, postings in lists:
            live, dead = self.live[index], self._dead[index]
            # A part in memory may have grown since.
            end = bisect_left(postings, len(live) << COUNT_BITS)
            if len(dead) * _PER_LOOK_UP < end:
                count += end - sum(1 for number in dead if _holds(postings, number))
            else:
                count += sum(1 for packed in postings[:end] if live[packed >> COUNT_BITS])
        return count

    @cached_property
    def _dead(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the outdated files in each part."""
        return tuple(tuple(_zeros(live)) for live in self.live)

    def _add(
        self, scores: dict[int, float], index: int, postings: Postings, weight: float, average: float
    ) -> None:
        live, lengths = self.live[index], self.parts[index].lengths
        limit = len(live)
        first = place(index, 0)
        base, slope = _K1 * (1 - _B), _K1 * _B / average
        get = scores.get
        for packed in postings:
            number = packed >> COUNT_BITS
            if number < limit and live[number]:
                count = packed & MOST_COUNTED
                at = first + number
                held = weight * count * (_K1 + 1) / (count + (base + slope * lengths[number]))
                scores[at] = get(at, 0.0) + held

    def _look_up(self, scores: dict[int, float], best: list[int], held: _Term, average: float) -> None:
        """Add the scores of a common word to the best files."""
        by_part = dict(held.lists)
        weight = held.weight * held.rarity
        for at in best:
            index, number = split_place(at)
            postings = by_part.get(index)
            if postings is None:
                continue
            found = bisect_left(postings, number << COUNT_BITS)
            if found < len(postings) and postings[found] >> COUNT_BITS == number:
                count = postings[found] & MOST_COUNTED
                norm = _K1 * (1 - _B + _B * self.parts[index].lengths[number] / average)
                scores[at] += weight * count * (_K1 + 1) / (count + norm)

    def _live_places(self, term: str) -> list[int]:
        """The places of the live files with a term."""
        places = []
        for index, postings in self._lists(term):
            live, first = self.live[index], place(index, 0)
            for packed in postings:
                number = packed >> COUNT_BITS
                if number < len(live) and live[number]:
                    places.append(first + number)
        return places

    def by_path(self, scores: Mapping[int, float]) -> dict[str, float]:
        """The best scores, by path instead of place."""
        named = {}
        if len(scores) > _MOST_NAMED:
            scores = {at: scores[at] for at in self._best(scores, _MOST_NAMED)}
        for at, score in scores.items():
            named[self._path(at)] = score
        return named

    def _best(self, scores: Mapping[int, float], most: int) -> list[int]:
        """The places with the ``most`` best scores; of equal ones those whose paths come first."""
        if len(scores) <= most:
            return list(scores)
        last = nlargest(most, scores.values())[-1]
        better = [at for at, score in scores.items() if score > last]
        equal = [at for at, score in scores.items() if score == last]
        return better + nsmallest(most - len(better), equal, key=self._path)

    def _path(self, at: int) -> str:
        index, number = split_place(at)
        return self.parts[index].path(number)

    def defining_files(self, used: Mapping[str, int]) -> tuple[dict[str, float], list[str]]:
        """The score of each file for defining used names, and the names that any file defines.

        ``used`` are names in lower case with their counts. A name that many files define adds little to each.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        defined = []
        for name, count in used.items():
            held = self._live_places(definition_term(name))
            if held:
                defined.append(name)
                share = (1 + math.log(count)) / len(held) ** 1.5
                for at in held:
                    scores[at] += share
        return self.by_path(scores), defined

    def with_stems(self, stems: Iterable[str]) -> list[str]:
        """The files whose names have one of these stems."""
        return list(self.by_path({at: 1.0 for found in stems for at in self._live_places(stem_term(found))}))

    @cached_property
    def unedited(self) -> frozenset[int]:
        """The places of the files that nobody edits by hand."""
        return frozenset(self._live_places(UNEDITED))

    @cached_property
    def unedited_size(self) -> int:
        """The approximate size of the outlines of unedited files in bytes."""
        places = map(split_place, self.unedited)
        return sum(self.parts[index].outline_size(number) for index, number in places)

    def rarity(self, word: str) -> float:
        """How rare a word is; 0 for one that is in all files."""
        known = self._rarities.get(word)
        if known is None:
            known = self._rarities[word] = self.rarity_of(self._count(self._lists(word)))
        return known

    def rarity_of(self, held: int) -> float:
        """How rare a word is that ``held`` files have."""
        return math.log(1 + max(0.0, self.files - held + 0.5) / (held + 0.5))

    def certainty(self, best: float) -> float:
        """How certain a best BM25 score is, from 0 to 1; common words alone give little certainty."""
        return min(1.0, best / (_CERTAIN * math.log(2 + self.files)))


def _holds(postings: Postings, number: int) -> bool:
    """Whether a term's postings have a file."""
    found = bisect_left(postings, number << COUNT_BITS)
    return found < len(postings) and postings[found] >> COUNT_BITS == number
