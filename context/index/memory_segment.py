"""An index of files in memory that only grows: files that were saved, or those that a worker reads."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from context.disk.changes import Lines
from context.index.part import COUNT_BITS, MOST_COUNTED, SLICE_BITS, SLICES, Facts, Postings, TermSlice
from context.text.sorting import sorted_in_parts
from context.text.words import UNEDITED, definition_term, stem, stem_term, term_numbers

_SORTED = 30_000
"""Number of terms' numbers that are sorted at once, in some milliseconds."""


class _File(NamedTuple):
    path: str
    digest: str
    outline: str
    names: str
    lines: Lines | None
    layout: bytes


class _Files:
    """The numbered files of a part in memory."""

    def __init__(self) -> None:
        self._files: list[_File] = []
        self.lengths = array("I")
        self._numbers: dict[tuple[str, str], int] = {}
        self.blocks: dict[int, str] = {}
        self.long_blocks: dict[int, str] = {}

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
        """The approximate size of its outline in bytes."""
        return len(self._files[number].outline)

    def names(self, number: int) -> str:
        """The names that the file defines for others, sorted and separated by spaces."""
        return self._files[number].names

    def lines(self, number: int) -> Lines | None:
        """The checksums of the file's lines, if they are kept."""
        return self._files[number].lines

    def layout(self, number: int) -> bytes:
        """The line ranges of the file's definitions, packed."""
        return self._files[number].layout

    def find(self, path: str, digest: str) -> int | None:
        """The number of the file with this path and hash, or None."""
        return self._numbers.get((path, digest))


class MemorySegment(_Files):
    """A part of an index in memory. One thread adds files; any thread may search."""

    def __init__(self) -> None:
        super().__init__()
        # Most words are in one file only, so a single posting is stored without a list.
        self._held: dict[str, int | list[int]] = {}
        self.size = 0
        """The total number of postings."""

    def add(self, facts: Facts) -> int:
        """Add a file and return its number."""
        number = len(self._files)
        # Shared by all postings of the file with the same count.
        packed = [number << COUNT_BITS | count for count in range(MOST_COUNTED + 1)]
        further = {definition_term(name.lower()): 1 for name in facts.names}
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
        kept = _File(facts.path, facts.digest, facts.outline, names, facts.lines, facts.layout)
        self._files.append(kept)
        return number

    def postings(self, term: str) -> Postings | None:
        """The postings of a term: which files have it, and how often."""
        found = self._held.get(term)
        return None if found is None else array("I", found if isinstance(found, list) else (found,))

    def pack(self) -> SortedRun:
        """The files and terms as a sorted run."""
        held = self._held.copy()
        numbered: dict[int, int | list[int]] = {}
        for number, found in zip(term_numbers(held), held.values(), strict=True):
            before = numbered.setdefault(number, found)
            if before is not found:
                # Two terms with the same number share their postings.
                numbered[number] = sorted({*_several(before), *_several(found)})
        terms = TermSlice(array("Q", sorted_in_parts(numbered, _SORTED)), array("I"), array("I"))
        postings, ends = terms.postings, terms.ends
        for number in terms.numbers:
            found = numbered[number]
            if isinstance(found, list):
                postings.extend(found)
            else:
                postings.append(found)
            ends.append(len(postings))
        return SortedRun(self._files, self.lengths, terms)

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        return self.pack().slices()


class SortedRun(_Files):
    """The files of a draft and their sorted terms: far smaller, and only to be written to disk."""

    def __init__(self, files: list[_File], lengths: array[int], terms: TermSlice) -> None:
        super().__init__()
        self._files, self.lengths, self._terms = files, lengths, terms

    @property
    def size(self) -> int:
        """The approximate size in memory, in bytes."""
        held = sum(len(values) * values.itemsize for values in self._terms)
        return held + sum(len(file.outline) + len(file.names) + len(file.layout) for file in self._files)

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
