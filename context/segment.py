"""An index of files on disk: written once, then read piece by piece, so that what is not asked for takes no
memory. Several processes may hold one, even after its file's name is gone.

Layout: a mark, the sections one after the other, each aligned to 8 bytes, a table of them as JSON, the
table's length and CRC-32, and the mark again. Arrays are of unsigned 32-bit numbers in the machine's order.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from context.changes import Lines
from context.draft import COUNT_BITS, Part, Postings, term_hash

_MARK = b"spark-index-3\n" + sys.byteorder[:2].encode()
_TAIL = struct.Struct("=II")
_PLACE = struct.Struct("=II")
"""Where a term's text begins, and where its postings do; the next one's is where they end."""
_PLACES = struct.Struct("=IIII")
_REMEMBERED = 20_000
"""Terms that were asked for and are remembered: those of the files in hand are asked for each time. As
many paths are."""
_MOST_POSTINGS = 500_000
"""Postings of those terms, together."""
_LONGEST = 1 << 30
"""Bytes read at once at most: more is asked for only where a file is damaged."""
_ARRAYS = (
    "hashes",
    "path_at",
    "outline_at",
    "names_at",
    "lines_at",
    "lengths",
    "state_hashes",
    "state_numbers",
)
"""Sections that are held in memory: a few bytes a term and a file."""
_SECTIONS = ("terms", "term_places", "postings", "paths", "outlines", "names", "lines", "digests")


class DamagedSegment(Exception):
    """A file is no segment, or not a whole one."""


class Segment:
    """A part of an index that was written by :func:`write_segment`. Any thread may look up.

    It is read piece by piece, not mapped: a mapped file that is cut short ends the process that looks at
    it. What is damaged inside gives wrong answers, never an exception; where something is missing,
    ``damaged`` is set. ``mapped`` is for a process that reads all of it, and that may die.
    """

    def __init__(self, file: Path, *, mapped: bool = False) -> None:
        """Raises OSError, DamagedSegment."""
        self.name = file.name
        self.damaged = False
        self._handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        size = os.fstat(self._handle).st_size
        self._map = mmap.mmap(self._handle, 0, access=mmap.ACCESS_READ) if mapped and size else None
        end = size - len(_MARK) - _TAIL.size
        if end < len(_MARK):
            raise DamagedSegment(f"{file} is too short")
        length, checksum = _TAIL.unpack(self._read(end, end + _TAIL.size))
        table = self._read(max(0, end - length), end)
        marks = self._read(0, len(_MARK)), self._read(size - len(_MARK), size)
        if marks != (_MARK, _MARK) or crc32(table) != checksum:
            raise DamagedSegment(f"{file} is not whole")
        sections: dict[str, tuple[int, int]] = json.loads(table)
        try:
            self._at = {name: sections[name][0] for name in _SECTIONS}
            arrays = {name: self._array(*sections[name]) for name in _ARRAYS}
        except (LookupError, TypeError, ValueError) as problem:
            raise DamagedSegment(f"{file} lacks {problem}") from problem
        self._known: dict[str, Postings | None] = {}
        self._known_size = 0
        self._paths: dict[int, str] = {}
        self.blocks: dict[int, str] = {}
        self._hashes, self.lengths = arrays["hashes"], arrays["lengths"]
        self._texts = {name: arrays[f"{name[:-1]}_at"] for name in ("paths", "outlines")}
        self._texts |= {name: arrays[f"{name}_at"] for name in ("names", "lines")}
        self._state_hashes, self._state_numbers = arrays["state_hashes"], arrays["state_numbers"]
        counts = [len(ends) for ends in self._texts.values()]
        if counts != [len(self.lengths) + 1] * 4 or len(self._state_hashes) != len(self._state_numbers):
            raise DamagedSegment(f"{file} has sections of different lengths")

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)

    def __len__(self) -> int:
        return len(self.lengths)

    def _read(self, start: int, end: int) -> bytes:
        """The bytes of a place in the file; empty where there is no such place."""
        if not 0 <= start < end or end - start > _LONGEST:
            return b""
        if self._map is not None:
            return self._map[start:end]
        try:
            held = os.pread(self._handle, end - start, start)
        except OSError:
            held = b""
        if len(held) < end - start:
            self.damaged = True
        return held

    def _array(self, start: int, end: int) -> array[int]:
        values = array("I")
        values.frombytes(self._read(start, end))
        if len(values) * values.itemsize != end - start:
            raise ValueError("a part of itself")
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
        """How many bytes its outline has."""
        ends = self._texts["outlines"]
        return ends[number + 1] - ends[number]

    def names(self, number: int) -> frozenset[str]:
        """The names the file defines for others."""
        return frozenset(self._text("names", number).decode("utf-8", "replace").split())

    def lines(self, number: int) -> Lines | None:
        """The file's lines as checksums, where they are kept."""
        held = self._text("lines", number)
        if not held or len(held) % 4:
            return None
        found: Lines = array("I")
        # One number stands before them, so that an empty file is told from one not kept.
        found.frombytes(held[4:])
        return found

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        try:
            return self._known[term]
        except KeyError:
            found = self._found(term)
        self._known_size += len(found or ())
        if len(self._known) >= _REMEMBERED or self._known_size > _MOST_POSTINGS:
            self._known.clear()
            self._known_size = len(found or ())
        self._known[term] = found
        return found

    def _found(self, term: str) -> Postings | None:
        encoded = term.encode("utf-8", "surrogatepass")
        wanted = term_hash(encoded)
        hashes = self._hashes
        at = bisect_left(hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            held, first, end = self._term(at)
            if held == encoded:
                return self._postings(first, end)
            at += 1
        return None

    def _term(self, at: int) -> tuple[bytes, int, int]:
        """A term, and where its postings begin and end."""
        place = self._at["term_places"] + _PLACE.size * at
        told = self._read(place, place + 2 * _PLACE.size)
        if len(told) != 2 * _PLACE.size:
            return b"", 0, 0
        start, first, stop, end = _PLACES.unpack(told)
        terms = self._at["terms"]
        return self._read(terms + start, terms + stop), first, end

    def _postings(self, first: int, end: int) -> Postings:
        found = array("I")
        held = self._read(self._at["postings"] + 4 * first, self._at["postings"] + 4 * end)
        found.frombytes(held[: len(held) // 4 * 4])
        return found

    def find(self, path: str, digest: str) -> int | None:
        """The number of a file in this state."""
        wanted = _state_hash(path, digest)
        at = bisect_left(self._state_hashes, wanted)
        while at < len(self._state_hashes) and self._state_hashes[at] == wanted:
            number = self._state_numbers[at]
            if number < len(self) and self.digest(number) == digest and self.path(number) == path:
                return number
            at += 1
        return None

    def terms(self) -> Iterator[tuple[int, bytes, Postings]]:
        """Every term with its hash and postings, in the order of hash and term."""
        for at, number in enumerate(self._hashes):
            term, first, end = self._term(at)
            yield number, term, self._postings(first, end)


def write_segment(parts: list[tuple[Part, bytes | None]], file: Path) -> None:
    """Write the files of ``parts`` as one segment; of each part those whose byte in the mask is not 0, or
    all. The file appears whole or not at all. Raises OSError."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        with temporary.open("wb") as out:
            _Writing(out, parts).write()
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


class _Writing:
    """One segment on its way to disk."""

    def __init__(self, out: BinaryIO, parts: list[tuple[Part, bytes | None]]) -> None:
        self.out = out
        self.parts = parts
        self.sections: dict[str, list[int]] = {}
        self.numbers: list[list[int] | int] = []
        self.docs: list[tuple[Part, int]] = []
        for part, mask in parts:
            start = len(self.docs)
            if mask is None or all(mask[: len(part)]):
                self.numbers.append(start)
                self.docs += ((part, number) for number in range(len(part)))
                continue
            kept = [number for number in range(len(part)) if mask[number]]
            new = [-1] * len(part)
            for at, number in enumerate(kept):
                new[number] = start + at
            self.numbers.append(new)
            self.docs += ((part, number) for number in kept)

    def write(self) -> None:
        self.out.write(_MARK)
        self._write_terms()
        docs = self.docs
        self._write_texts("paths", "path_at", (part.path(n).encode("utf-8", "replace") for part, n in docs))
        self._write_texts(
            "outlines", "outline_at", (part.outline(n).encode("utf-8", "replace") for part, n in docs)
        )
        self._write_texts(
            "names",
            "names_at",
            (" ".join(sorted(part.names(n))).encode("utf-8", "replace") for part, n in docs),
        )
        self._write_texts("lines", "lines_at", (_packed_lines(part.lines(n)) for part, n in docs))
        self._section("digests", (bytes.fromhex(part.digest(n)) for part, n in docs))
        self._array("lengths", array("I", (part.lengths[n] for part, n in docs)))
        states = sorted((_state_hash(part.path(n), part.digest(n)), at) for at, (part, n) in enumerate(docs))
        self._array("state_hashes", array("I", (state for state, _ in states)))
        self._array("state_numbers", array("I", (at for _, at in states)))
        table = json.dumps(self.sections).encode()
        self.out.write(table + _TAIL.pack(len(table), crc32(table)) + _MARK)

    def _write_terms(self) -> None:
        hashes, places = array("I"), array("I", (0, 0))
        terms = bytearray()

        def each() -> Iterator[bytes]:
            total = 0
            for number, term, found in self._alone() if self.numbers == [0] else self._merged():
                if not found:
                    continue
                hashes.append(number)
                terms.extend(term)
                total += len(found) // 4
                places.extend((len(terms), total))
                yield found

        self._section("postings", each())
        self._array("hashes", hashes)
        self._array("term_places", places)
        self._section("terms", [bytes(terms)])

    def _alone(self) -> Iterator[tuple[int, bytes, bytes]]:
        """The terms of a single part whose files keep their numbers."""
        for number, term, postings in self.parts[0][0].terms():
            yield number, term, postings.tobytes()

    def _merged(self) -> Iterator[tuple[int, bytes, bytes]]:
        """The terms of all parts with their postings joined."""

        def numbered(at: int, part: Part) -> Iterator[tuple[int, bytes, int, Postings]]:
            for number, term, postings in part.terms():
                yield number, term, at, postings

        streams = [numbered(at, part) for at, (part, _) in enumerate(self.parts)]
        # The part's number tells equal terms apart, so postings are never compared.
        for (number, term), items in groupby(merge(*streams), key=itemgetter(0, 1)):
            yield number, term, b"".join(self._moved(at, postings) for _, _, at, postings in items)

    def _moved(self, at: int, postings: Postings) -> bytes:
        """Postings of one part with the numbers that its files have now."""
        new = self.numbers[at]
        if new == 0:
            return postings.tobytes()
        if isinstance(new, int):
            shift = new << COUNT_BITS
            return array("I", [packed + shift for packed in postings]).tobytes()
        low = (1 << COUNT_BITS) - 1
        return array(
            "I",
            [
                new[packed >> COUNT_BITS] << COUNT_BITS | packed & low
                for packed in postings
                if new[packed >> COUNT_BITS] >= 0
            ],
        ).tobytes()

    def _write_texts(self, name: str, offsets: str, texts: Iterable[bytes]) -> None:
        at = array("I", (0,))

        def each() -> Iterator[bytes]:
            total = 0
            for text in texts:
                total += len(text)
                at.append(total)
                yield text

        self._section(name, each())
        self._array(offsets, at)

    def _array(self, name: str, values: array[int]) -> None:
        self._section(name, [values.tobytes()])

    def _section(self, name: str, chunks: Iterable[bytes]) -> None:
        self.out.write(b"\0" * (-self.out.tell() % 8))
        start = self.out.tell()
        for chunk in chunks:
            self.out.write(chunk)
        self.sections[name] = [start, self.out.tell()]


def _packed_lines(lines: Lines | None) -> bytes:
    return b"" if lines is None else b"\0\0\0\0" + lines.tobytes()


def _state_hash(path: str, digest: str) -> int:
    return crc32(f"{digest}{path}".encode("utf-8", "replace"))
