"""An index of files in memory, only ever added to: what saves brought, or what a worker is gathering."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeAlias

from context.changes import Lines
from context.facts import Facts
from context.terms import NUMBER_BITS, makes, stem, stem_term, term_number

COUNT_BITS = 6
MOST_COUNTED = (1 << COUNT_BITS) - 1
SLICES = 256
"""Parts that the numbers of terms are cut into, evenly: one is sorted, or merged, at a time."""
SLICE_BITS = NUMBER_BITS - 8

Postings: TypeAlias = "array[int]"


class TermSlice(NamedTuple):
    """The terms of one slice in the order of their numbers (64 bits each), and where the postings of each
    end (32 bits)."""

    numbers: array[int]
    ends: array[int]
    postings: Postings


class Part(Protocol):
    """One part of an index: numbered files, and which of them hold which terms.

    A posting is ``number << COUNT_BITS | count``; postings stand in the order of their numbers.
    """

    lengths: array[int]
    """How many words each file holds."""
    blocks: dict[int, str]
    """Some of its files as the project map has them, remembered by who makes them."""

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

    def names(self, number: int) -> frozenset[str]:
        """The names it defines for others."""
        ...

    def lines(self, number: int) -> Lines | None:
        """Its lines as checksums, where they are kept."""
        ...

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        ...

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        ...

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        ...


class _Held(NamedTuple):
    path: str
    digest: str
    outline: str
    names: str
    lines: Lines | None


class Draft:
    """A part of an index in memory. One thread adds, any may look up."""

    def __init__(self) -> None:
        self._files: list[_Held] = []
        self._held: defaultdict[str, list[int]] = defaultdict(list)
        self.lengths = array("I")
        self._numbers: dict[tuple[str, str], int] = {}
        self.blocks: dict[int, str] = {}
        self.size = 0
        """Postings held, in all."""

    def __len__(self) -> int:
        return len(self._files)

    def add(self, facts: Facts) -> int:
        """Take in a file; its number."""
        number = len(self._files)
        held = self._held
        # Shared by all postings of the file that count the same.
        packed = [number << COUNT_BITS | count for count in range(MOST_COUNTED + 1)]
        length = 0
        for word, count in facts.words.items():
            length += count
            held[word].append(packed[count if count < MOST_COUNTED else MOST_COUNTED])
        further = {makes(name.lower()) for name in facts.names}
        further.add(stem_term(stem(facts.path)))
        for term in further:
            held[term].append(packed[1])
        self.size += len(facts.words) + len(further)
        self.lengths.append(length)
        self._numbers[facts.path, facts.digest] = number
        names = " ".join(sorted(facts.names))
        self._files.append(_Held(facts.path, facts.digest, facts.outline, names, facts.lines))
        return number

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

    def names(self, number: int) -> frozenset[str]:
        """The names the file defines for others."""
        return frozenset(self._files[number].names.split())

    def lines(self, number: int) -> Lines | None:
        """The file's lines as checksums, where they are kept."""
        return self._files[number].lines

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        found = self._held.get(term)
        return None if found is None else array("I", found)

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        return self._numbers.get((path, digest))

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices: none takes so long to sort that other threads wait."""
        sliced: list[list[tuple[int, list[int]]]] = [[] for _ in range(SLICES)]
        for term, postings in list(self._held.items()):
            number = term_number(term)
            sliced[number >> SLICE_BITS].append((number, postings))
        for terms in sliced:
            terms.sort()
            yield _slice(terms)
            terms.clear()


def _slice(terms: list[tuple[int, list[int]]]) -> TermSlice:
    numbers, ends, together = array("Q"), array("I"), array("I")
    last = -1
    for number, postings in terms:
        if number == last:
            # Two terms of one number are found together.
            before = ends[-2] if len(ends) > 1 else 0
            together[before:] = array("I", sorted({*together[before:], *postings}))
            ends[-1] = len(together)
            continue
        together.extend(postings)
        numbers.append(number)
        ends.append(len(together))
        last = number
    return TermSlice(numbers, ends, together)
