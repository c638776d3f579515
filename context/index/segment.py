"""An index of files on disk. It is written once and read piece by piece, so it takes little memory. Several
processes may have it open, even after the file is deleted.

Layout: a mark, the sections one after the other, each aligned to 8 bytes, a table of them as JSON (start,
end and CRC-32 by name), the table's length and CRC-32, and the mark again. Arrays are of unsigned 32-bit
numbers in the machine's order; ``terms`` and ``fences`` of 64-bit ones. Written by
:mod:`context.index.segment_writing`.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from context.disk.changes import Lines
from context.index.part import SLICE_BITS, SLICES, Postings, TermSlice
from context.text.words import term_numbers

MARK = b"spark-index-5\n" + sys.byteorder[:2].encode()
TAIL = struct.Struct("=II")
FENCED = 64
"""One in this many terms is kept in memory; the others are searched for on disk from there."""
_REMEMBERED = 20_000
"""Number of terms, and of paths, that are cached: those of the files in hand are needed each time."""
_MOST_KNOWN = 6_000_000
"""Total number of bytes of the cached terms' postings."""
_LONGEST = 1 << 30
"""Number of bytes that one read may ask for; more is asked for only if the file is damaged."""
_ARRAYS = (
    "path_at",
    "outline_at",
    "names_at",
    "lines_at",
    "layout_at",
    "lengths",
    "state_hashes",
    "state_numbers",
)
"""Sections that are kept in memory, like the fences: a few bytes for each file."""
_SECTIONS = ("terms", "ends", "postings", "paths", "outlines", "names", "lines", "layout", "digests")


class DamagedSegment(Exception):
    """A file is not a valid segment."""


class Segment:
    """A part of an index that was written by :func:`write_segment`. Any thread may search it.

    It is read, not mapped: access to a mapped file that was truncated would kill the process. Damage inside
    the file gives wrong answers, never an exception; if the file is too short, ``damaged`` is set.
    """

    def __init__(self, file: Path) -> None:
        """Raises OSError, DamagedSegment."""
        self.name = file.name
        self.damaged = False
        self._handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        size = os.fstat(self._handle).st_size
        end = size - len(MARK) - TAIL.size
        if end < len(MARK):
            raise DamagedSegment(f"{file} is too short")
        length, checksum = TAIL.unpack(self._read(end, end + TAIL.size))
        table = self._read(max(0, end - length), end)
        marks = self._read(0, len(MARK)), self._read(size - len(MARK), size)
        if marks != (MARK, MARK) or crc32(table) != checksum:
            raise DamagedSegment(f"{file} is not whole")
        sections: dict[str, tuple[int, int, int]] = json.loads(table)
        try:
            self._at = {name: sections[name][0] for name in _SECTIONS}
            arrays = {name: self._array("I", *sections[name]) for name in _ARRAYS}
            self._fences = self._array("Q", *sections["fences"])
            self._terms = (sections["terms"][1] - sections["terms"][0]) // 8
        except (LookupError, TypeError, ValueError) as problem:
            raise DamagedSegment(f"{file} lacks {problem}") from problem
        # As bytes: the garbage collector would look at each array.
        self._known: dict[str, bytes | None] = {}
        self._known_size = 0
        self._paths: dict[int, str] = {}
        self.blocks: dict[int, str] = {}
        self.long_blocks: dict[int, str] = {}
        self.lengths = arrays["lengths"]
        self._texts = {name: arrays[f"{name[:-1]}_at"] for name in ("paths", "outlines")}
        self._texts |= {name: arrays[f"{name}_at"] for name in ("names", "lines", "layout")}
        self._state_hashes, self._state_numbers = arrays["state_hashes"], arrays["state_numbers"]
        counts = [len(ends) for ends in self._texts.values()]
        if counts != [len(self.lengths) + 1] * len(counts) or len(self._state_hashes) != len(
            self._state_numbers
        ):
            raise DamagedSegment(f"{file} has sections of different lengths")

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)

    def __len__(self) -> int:
        return len(self.lengths)

    def _read(self, start: int, end: int) -> bytes:
        """The bytes of a range of the file; empty if there is no such range."""
        if not 0 <= start < end or end - start > _LONGEST:
            return b""
        try:
            held = os.pread(self._handle, end - start, start)
        except OSError:
            held = b""
        if len(held) < end - start:
            self.damaged = True
        return held

    def _array(self, kind: str, start: int, end: int, checksum: int) -> array[int]:
        held = self._read(start, end)
        if len(held) != end - start or crc32(held) != checksum:
            raise ValueError("a part of itself")
        values = array(kind)
        values.frombytes(held)
        return values

    def _text(self, section: str, number: int) -> bytes:
        ends, first = self._texts[section], self._at[section]
        return self._read(first + ends[number], first + ends[number + 1])

    def path(self, number: int) -> str:
        """The file's path."""
        found = self._paths.get(number)
        if found is None:
            if len(self._paths) >= _REMEMBERED:
                self._paths.clear()
            found = self._paths[number] = self._text("paths", number).decode("utf-8", "replace")
        return found

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        first = self._at["digests"] + 32 * number
        return self._read(first, first + 32).hex()

    def outline(self, number: int) -> str:
        """The file's outline."""
        return self._text("outlines", number).decode("utf-8", "replace")

    def outline_size(self, number: int) -> int:
        """The size of its outline in bytes."""
        ends = self._texts["outlines"]
        return ends[number + 1] - ends[number]

    def names(self, number: int) -> str:
        """The names that the file defines for others, sorted and separated by spaces."""
        return self._text("names", number).decode("utf-8", "replace")

    def layout(self, number: int) -> bytes:
        """The line ranges of the file's definitions, packed."""
        return self._text("layout", number)

    def lines(self, number: int) -> Lines | None:
        """The checksums of the file's lines, if they are kept."""
        held = self._text("lines", number)
        if not held or len(held) % 4:
            return None
        found: Lines = array("I")
        # A number before them tells an empty file from one without checksums.
        found.frombytes(held[4:])
        return found

    def postings(self, term: str) -> Postings | None:
        """The postings of a term: which files have it, and how often."""
        try:
            packed = self._known[term]
        except KeyError:
            packed = self._known_from_now(term)
        return None if packed is None else array("I", packed)

    def _known_from_now(self, term: str) -> bytes | None:
        found = self._found(term)
        self._known_size += len(found or b"")
        if len(self._known) >= _REMEMBERED or self._known_size > _MOST_KNOWN:
            self._known.clear()
            self._known_size = len(found or b"")
        self._known[term] = found
        return found

    def _found(self, term: str) -> bytes | None:
        (wanted,) = term_numbers((term,))
        fence = bisect_right(self._fences, wanted) - 1
        if fence < 0:
            return None
        first = fence * FENCED
        near = self._numbers(first, min(first + FENCED, self._terms))
        at = bisect_left(near, wanted)
        if at == len(near) or near[at] != wanted:
            return None
        # The ends of the postings of the previous term and of this one.
        ends = self._ends(first + at, first + at + 1)
        return self._packed(ends[0], ends[1]) if len(ends) == 2 else None

    def _numbers(self, first: int, end: int) -> array[int]:
        found = array("Q")
        held = self._read(self._at["terms"] + 8 * first, self._at["terms"] + 8 * end)
        found.frombytes(held[: len(held) // 8 * 8])
        return found

    def _ends(self, first: int, end: int) -> array[int]:
        """The ends of the postings of the term before ``first`` and of each term up to ``end``."""
        found = array("I")
        held = self._read(self._at["ends"] + 4 * first, self._at["ends"] + 4 * (end + 1))
        found.frombytes(held[: len(held) // 4 * 4])
        return found

    def _packed(self, first: int, end: int) -> bytes:
        """The postings of a range as they lie in the file."""
        held = self._read(self._at["postings"] + 4 * first, self._at["postings"] + 4 * end)
        return held[: len(held) // 4 * 4]

    def find(self, path: str, digest: str) -> int | None:
        """The number of the file with this path and hash, or None."""
        wanted = state_hash(path, digest)
        at = bisect_left(self._state_hashes, wanted)
        while at < len(self._state_hashes) and self._state_hashes[at] == wanted:
            number = self._state_numbers[at]
            if number < len(self) and self.digest(number) == digest and self.path(number) == path:
                return number
            at += 1
        return None

    def slices(self) -> Iterator[TermSlice]:
        """All terms, in :data:`SLICES` slices. Raises DamagedSegment."""
        first = 0
        for end in (self._first_of(number << SLICE_BITS) for number in range(1, SLICES + 1)):
            numbers, ends = self._numbers(first, end), self._ends(first, end)
            if len(numbers) != end - first or len(ends) != end - first + 1:
                raise DamagedSegment(f"{self.name} was cut short")
            before = ends.pop(0)
            yield TermSlice(
                numbers,
                array("I", [at - before for at in ends]),
                array("I", self._packed(before, ends[-1] if ends else before)),
            )
            first = end

    def _first_of(self, number: int) -> int:
        """The number of terms with lower numbers."""
        fence = max(0, bisect_left(self._fences, number) - 1)
        first = fence * FENCED
        return first + bisect_left(self._numbers(first, min(first + FENCED, self._terms)), number)


def state_hash(path: str, digest: str) -> int:
    """The checksum by which a file's state is sorted and found."""
    return crc32(f"{digest}{path}".encode("utf-8", "replace"))
