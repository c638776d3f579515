"""What the index holds of a file, and what each of its parts answers, in memory or on disk."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from context.disk.changes import Lines
from context.text.words import NUMBER_BITS

COUNT_BITS = 6
MOST_COUNTED = (1 << COUNT_BITS) - 1
SLICES = 256
"""Number of equal slices of the terms' numbers, of which one at a time is sorted or merged."""
SLICE_BITS = NUMBER_BITS - 8

Postings: TypeAlias = "array[int]"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index keeps of one file. ``lines`` is None if git compares the lines."""

    path: str
    digest: str
    outline: str
    """The rendered outline, secrets masked."""
    names: frozenset[str]
    """The names that it defines for other files."""
    words: Mapping[str, int]
    """The words of the text with their counts; those of defined names and, twice, of the path are added."""
    lines: Lines | None
    layout: bytes = b""
    """The line ranges of its definitions (see :mod:`context.code.symbols`)."""
    unedited: bool = False
    """Whether it is generated, vendored or minified."""


class TermSlice(NamedTuple):
    """The terms of one slice, as sorted 64-bit numbers, and the index at which the postings of each end."""

    numbers: array[int]
    ends: array[int]
    postings: Postings


class Packable(Protocol):
    """A part of an index that can be written to disk: numbered files, and the postings of their terms.

    A posting is ``number << COUNT_BITS | count``; postings are sorted.
    """

    lengths: array[int]
    """The number of words in each file."""

    def __len__(self) -> int: ...

    def path(self, number: int) -> str:
        """The file's path."""
        ...

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        ...

    def outline(self, number: int) -> str:
        """The file's outline."""
        ...

    def outline_size(self, number: int) -> int:
        """The approximate size of its outline in bytes."""
        ...

    def names(self, number: int) -> str:
        """The names that the file defines for others, sorted and separated by spaces."""
        ...

    def lines(self, number: int) -> Lines | None:
        """The checksums of the file's lines, if they are kept."""
        ...

    def layout(self, number: int) -> bytes:
        """The line ranges of the file's definitions, packed."""
        ...

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices."""
        ...


class Part(Packable, Protocol):
    """A part of an index that can be searched."""

    blocks: dict[int, str]
    """Cached blocks of the project map, by the file's number."""
    long_blocks: dict[int, str]
    """The same for long ones, of which fewer are kept."""

    def postings(self, term: str) -> Postings | None:
        """The postings of a term: which files have it, and how often."""
        ...

    def find(self, path: str, digest: str) -> int | None:
        """The number of the file with this path and hash, or None."""
        ...
