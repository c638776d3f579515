"""An index of files in memory, only ever added to: what saves brought, or what a worker is gathering."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from heapq import merge
from typing import Protocol, TypeAlias
from zlib import crc32

from context.changes import Lines
from context.facts import Facts

COUNT_BITS = 6
MOST_COUNTED = (1 << COUNT_BITS) - 1
_MAKES = "\x01"
_STEM = "\x02"
_RUN = 5_000
_LOW = (1 << 32) - 1
_AFFIX = re.compile(r"^(?:tests?|spec)[_.-]|[_.-]?(?:tests?|spec|impl|mock)$")

Postings: TypeAlias = "array[int]"


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

    def terms(self) -> Iterator[tuple[int, bytes, Postings]]:
        """Every term with its hash and postings, in the order of hash and term."""
        ...


def makes(name: str) -> str:
    """The term under which files stand that define ``name`` (in lower case)."""
    return f"{_MAKES}{name}"


def stem_term(stem: str) -> str:
    """The term under which files stand whose names have this stem."""
    return f"{_STEM}{stem}"


def stem(path: str) -> str:
    """A file's name without its extensions and without saying that it is a test."""
    return _AFFIX.sub("", path.rpartition("/")[2].partition(".")[0].lower())


def term_hash(term: bytes) -> int:
    """What terms are sorted and found by."""
    return crc32(term)


class Draft:
    """A part of an index in memory. One thread adds, any may look up."""

    def __init__(self, run: int = _RUN) -> None:
        """``run`` is how many terms are sorted at once, in which other threads have to wait."""
        self.run = run
        self._facts: list[tuple[str, str, str, frozenset[str], Lines | None]] = []
        # Most words stand in one file only: a lone posting is kept as it is.
        self._held: dict[str, array[int] | int] = {}
        self.lengths = array("I")
        self._numbers: dict[tuple[str, str], int] = {}
        self.blocks: dict[int, str] = {}
        self.size = 0
        """Postings held, in all."""

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, facts: Facts) -> int:
        """Take in a file; its number."""
        number = len(self._facts)
        held = self._held
        shifted = number << COUNT_BITS
        length = 0
        for word, count in facts.words.items():
            length += count
            packed = shifted | (count if count < MOST_COUNTED else MOST_COUNTED)
            found = held.get(word)
            if found is None:
                held[word] = packed
            elif isinstance(found, int):
                held[word] = array("I", (found, packed))
            else:
                found.append(packed)
        one = shifted | 1
        further = {makes(name.lower()) for name in facts.names}
        further.add(stem_term(stem(facts.path)))
        for term in further:
            found = held.get(term)
            if found is None:
                held[term] = one
            elif isinstance(found, int):
                held[term] = array("I", (found, one))
            else:
                found.append(one)
        self.size += len(facts.words) + len(further)
        self.lengths.append(length)
        self._numbers[facts.path, facts.digest] = number
        self._facts.append((facts.path, facts.digest, facts.outline, facts.names, facts.lines))
        return number

    def path(self, number: int) -> str:
        """The file's path."""
        return self._facts[number][0]

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        return self._facts[number][1]

    def outline(self, number: int) -> str:
        """The file's outline."""
        return self._facts[number][2]

    def outline_size(self, number: int) -> int:
        """About how many bytes its outline has."""
        return len(self._facts[number][2])

    def names(self, number: int) -> frozenset[str]:
        """The names the file defines for others."""
        return self._facts[number][3]

    def lines(self, number: int) -> Lines | None:
        """The file's lines as checksums, where they are kept."""
        return self._facts[number][4]

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        found = self._held.get(term)
        # A copy: another thread may add meanwhile.
        return array("I", (found,)) if isinstance(found, int) else None if found is None else found[:]

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        return self._numbers.get((path, digest))

    def terms(self) -> Iterator[tuple[int, bytes, Postings]]:
        """Every term with its hash and postings, in the order of hash and term."""
        names, held = list(self._held), list(self._held.values())
        # As single numbers, in sorted runs: half the memory, and no sort so long that other threads wait.
        hashed = array("Q", (term_hash(_encoded(term)) << 32 | at for at, term in enumerate(names)))
        runs = [sorted(hashed[at : at + self.run]) for at in range(0, len(hashed), self.run)]
        same: list[int] = []
        for code in runs[0] if len(runs) == 1 else merge(*runs):
            if same and same[0] >> 32 != code >> 32:
                yield from self._of_hash(same, names, held)
                same = []
            same.append(code)
        yield from self._of_hash(same, names, held)

    def _of_hash(
        self, codes: list[int], names: list[str], held: list[array[int] | int]
    ) -> Iterator[tuple[int, bytes, Postings]]:
        """The terms of one hash: nearly always one."""
        found = [(_encoded(names[code & _LOW]), held[code & _LOW]) for code in codes]
        if len(found) > 1:
            found.sort(key=lambda item: item[0])
        for term, postings in found:
            yield codes[0] >> 32, term, array("I", (postings,)) if isinstance(postings, int) else postings


def _encoded(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")
