"""An index of files in memory, only ever added to: what saves brought, or what a worker is gathering."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import NamedTuple, Protocol, TypeAlias

from context.disk.changes import Lines
from context.index.facts import Facts
from context.text.terms import NUMBER_BITS, UNEDITED, makes, stem, stem_term, term_numbers

COUNT_BITS = 6
MOST_COUNTED = (1 << COUNT_BITS) - 1
SLICES = 256
"""Parts that the numbers of terms are cut into, evenly: one is sorted, or merged, at a time."""
SLICE_BITS = NUMBER_BITS - 8
_SORTED = 30_000
"""Numbers that are sorted at once: some milliseconds."""

Postings: TypeAlias = "array[int]"


class TermSlice(NamedTuple):
    """The terms of one slice in the order of their numbers (64 bits each), and where the postings of each
    end (32 bits)."""

    numbers: array[int]
    ends: array[int]
    postings: Postings


class Packable(Protocol):
    """What can be written as a part of an index: numbered files, and which of them hold which terms.

    A posting is ``number << COUNT_BITS | count``; postings stand in the order of their numbers.
    """

    lengths: array[int]
    """How many words each file holds."""

    def __len__(self) -> int: ...

    def path(self, number: int) -> str:
        """The file's path."""
        ...

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        ...

    def outline(self, number: int) -> str:
        """Its outline."""
        ...

    def outline_size(self, number: int) -> int:
        """About how many bytes its outline has."""
        ...

    def names(self, number: int) -> str:
        """The names it defines for others, sorted, with spaces between them."""
        ...

    def lines(self, number: int) -> Lines | None:
        """Its lines as checksums, where they are kept."""
        ...

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        ...


class Part(Packable, Protocol):
    """A part of an index that is looked up in."""

    blocks: dict[int, str]
    """Some of its files as the project map has them, remembered by who makes them."""

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        ...

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        ...


class _File(NamedTuple):
    path: str
    digest: str
    outline: str
    names: str
    lines: Lines | None


class _Files:
    """The numbered files of a part that is in memory."""

    def __init__(self) -> None:
        self._files: list[_File] = []
        self.lengths = array("I")
        self._numbers: dict[tuple[str, str], int] = {}
        self.blocks: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._files)

    def path(self, number: int) -> str:
        """The file's path."""
        return self._files[number].path

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        return self._files[number].digest

    def outline(self, number: int) -> str:
        """The file's outline."""
        return self._files[number].outline

    def outline_size(self, number: int) -> int:
        """About how many bytes its outline has."""
        return len(self._files[number].outline)

    def names(self, number: int) -> str:
        """The names the file defines for others, sorted, with spaces between them."""
        return self._files[number].names

    def lines(self, number: int) -> Lines | None:
        """The file's lines as checksums, where they are kept."""
        return self._files[number].lines

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        return self._numbers.get((path, digest))


class MemorySegment(_Files):
    """A part of an index in memory. One thread adds, any may look up."""

    def __init__(self) -> None:
        super().__init__()
        # Most words stand in one file only: a lone posting is kept as it is.
        self._held: dict[str, int | list[int]] = {}
        self.size = 0
        """Postings held, in all."""

    def add(self, facts: Facts) -> int:
        """Take in a file; its number."""
        number = len(self._files)
        # Shared by all postings of the file that count the same.
        packed = [number << COUNT_BITS | count for count in range(MOST_COUNTED + 1)]
        further = {makes(name.lower()): 1 for name in facts.names}
        further[stem_term(stem(facts.path))] = 1
        if facts.unedited:
            further[UNEDITED] = 1
        held = self._held
        for terms in (facts.words, further):
            for term, count in terms.items():
                posting = packed[count if count < MOST_COUNTED else MOST_COUNTED]
                before = held.setdefault(term, posting)
                if isinstance(before, list):
                    before.append(posting)
                elif before is not posting:
                    held[term] = [before, posting]
        self.size += len(facts.words) + len(further)
        self.lengths.append(sum(facts.words.values()))
        self._numbers[facts.path, facts.digest] = number
        names = " ".join(sorted(facts.names))
        self._files.append(_File(facts.path, facts.digest, facts.outline, names, facts.lines))
        return number

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        found = self._held.get(term)
        return None if found is None else array("I", found if isinstance(found, list) else (found,))

    def pack(self) -> Run:
        """What it holds, as one run."""
        held = self._held.copy()
        numbered: dict[int, int | list[int]] = {}
        for number, found in zip(term_numbers(held), held.values(), strict=True):
            before = numbered.setdefault(number, found)
            if before is not found:
                # Two terms of one number are found together.
                numbered[number] = sorted({*_several(before), *_several(found)})
        terms = TermSlice(array("Q", _sorted(list(numbered))), array("I"), array("I"))
        postings, ends = terms.postings, terms.ends
        for number in terms.numbers:
            found = numbered[number]
            if isinstance(found, list):
                postings.extend(found)
            else:
                postings.append(found)
            ends.append(len(postings))
        return Run(self._files, self.lengths, terms)

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        return self.pack().slices()


class Run(_Files):
    """The files of a draft and their terms, sorted: far smaller, and only to be written."""

    def __init__(self, files: list[_File], lengths: array[int], terms: TermSlice) -> None:
        super().__init__()
        self._files, self.lengths, self._terms = files, lengths, terms

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        held = sum(len(values) * values.itemsize for values in self._terms)
        return held + sum(len(file.outline) + len(file.names) for file in self._files)

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        numbers, ends, postings = self._terms
        first = before = 0
        for number in range(1, SLICES + 1):
            end = bisect_left(numbers, number << SLICE_BITS, first)
            after = ends[end - 1] if end else 0
            own = array("I", [at - before for at in ends[first:end]])
            yield TermSlice(numbers[first:end], own, postings[before:after])
            first, before = end, after


def _several(found: int | list[int]) -> list[int]:
    return found if isinstance(found, list) else [found]


def _sorted(numbers: list[int]) -> Iterable[int]:
    """In order, without a sort so long that other threads wait."""
    runs = [sorted(numbers[at : at + _SORTED]) for at in range(0, len(numbers), _SORTED)]
    return runs[0] if len(runs) == 1 else merge(*runs)
