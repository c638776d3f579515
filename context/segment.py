"""An index of files on disk: written once, then only mapped into memory, so that what is not asked for
takes none. Several processes may hold one, even after its file's name is gone.

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
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from context.changes import Lines
from context.draft import COUNT_BITS, Part, Postings, term_hash

_MARK = b"spark-index-3\n" + sys.byteorder[:2].encode()
_TAIL = struct.Struct("=II")
_ARRAYS = (
    "hashes",
    "term_at",
    "posting_at",
    "postings",
    "path_at",
    "outline_at",
    "names_at",
    "lines_at",
    "lengths",
    "state_hashes",
    "state_numbers",
)
_TEXTS = ("terms", "paths", "outlines", "names", "lines", "digests")


class DamagedSegment(Exception):
    """A file is no segment, or not a whole one."""


class Segment:
    """A part of an index that was written by :func:`write_segment`. Any thread may look up.

    What is damaged inside gives wrong answers, never an exception: a reader checks what it is told.
    """

    def __init__(self, file: Path) -> None:
        """Raises OSError, DamagedSegment."""
        self.name = file.name
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            if size < 2 * len(_MARK) + _TAIL.size:
                raise DamagedSegment(f"{file} is too short")
            data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        end = size - len(_MARK) - _TAIL.size
        length, checksum = _TAIL.unpack_from(data, end)
        table = data[max(0, end - length) : end]
        if data[: len(_MARK)] != _MARK or data[-len(_MARK) :] != _MARK or crc32(table) != checksum:
            raise DamagedSegment(f"{file} is not whole")
        view = memoryview(data)
        sections: dict[str, list[int]] = json.loads(table)
        try:
            arrays = {name: view[slice(*sections[name])].cast("I") for name in _ARRAYS}
            texts = {name: view[slice(*sections[name])] for name in _TEXTS}
        except (KeyError, TypeError, ValueError) as problem:
            raise DamagedSegment(f"{file} has no {problem}") from problem
        self._map = data
        self._hashes, self._term_at, self._posting_at = (
            arrays["hashes"],
            arrays["term_at"],
            arrays["posting_at"],
        )
        self._postings, self._lengths = arrays["postings"], arrays["lengths"]
        self._path_at, self._outline_at = arrays["path_at"], arrays["outline_at"]
        self._names_at, self._lines_at = arrays["names_at"], arrays["lines_at"]
        self._state_hashes, self._state_numbers = arrays["state_hashes"], arrays["state_numbers"]
        self._terms, self._paths, self._outlines = texts["terms"], texts["paths"], texts["outlines"]
        self._names, self._lines, self._digests = texts["names"], texts["lines"], texts["digests"]

    def __len__(self) -> int:
        return len(self._lengths)

    def path(self, number: int) -> str:
        """The file's path."""
        text = self._paths[self._path_at[number] : self._path_at[number + 1]]
        return str(text, "utf-8", "replace")

    def digest(self, number: int) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        return self._digests[32 * number : 32 * number + 32].hex()

    def outline(self, number: int) -> str:
        """The file's outline."""
        text = self._outlines[self._outline_at[number] : self._outline_at[number + 1]]
        return str(text, "utf-8", "replace")

    def outline_size(self, number: int) -> int:
        """How many bytes its outline has."""
        return self._outline_at[number + 1] - self._outline_at[number]

    def names(self, number: int) -> frozenset[str]:
        """The names the file defines for others."""
        text = self._names[self._names_at[number] : self._names_at[number + 1]]
        return frozenset(str(text, "utf-8", "replace").split())

    def lines(self, number: int) -> Lines | None:
        """The file's lines as checksums, where they are kept."""
        start, end = self._lines_at[number], self._lines_at[number + 1]
        found: Lines = array("I")
        if end > start:
            # One number stands before them, so that an empty file is told from one not kept.
            found.frombytes(self._lines[start + 4 : end])
            return found
        return None

    def length(self, number: int) -> int:
        """How many words the file holds."""
        return self._lengths[number]

    def postings(self, term: str) -> Postings | None:
        """Which files hold a term, and how often."""
        encoded = term.encode("utf-8", "surrogatepass")
        wanted = term_hash(encoded)
        hashes = self._hashes
        at = bisect_left(hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            if self._terms[self._term_at[at] : self._term_at[at + 1]] == encoded:
                return self._postings[self._posting_at[at] : self._posting_at[at + 1]]
            at += 1
        return None

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
            term = bytes(self._terms[self._term_at[at] : self._term_at[at + 1]])
            yield number, term, self._postings[self._posting_at[at] : self._posting_at[at + 1]]

    def forget_pages(self) -> None:
        """Give the memory of what was looked at back; the system's own cache keeps it."""
        self._map.madvise(mmap.MADV_DONTNEED)


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
        self._array("lengths", array("I", (part.length(n) for part, n in docs)))
        states = sorted((_state_hash(part.path(n), part.digest(n)), at) for at, (part, n) in enumerate(docs))
        self._array("state_hashes", array("I", (state for state, _ in states)))
        self._array("state_numbers", array("I", (at for _, at in states)))
        table = json.dumps(self.sections).encode()
        self.out.write(table + _TAIL.pack(len(table), crc32(table)) + _MARK)

    def _write_terms(self) -> None:
        hashes, term_at, posting_at = array("I"), array("I", (0,)), array("I", (0,))
        terms = bytearray()

        def each() -> Iterator[bytes]:
            total = 0
            for (number, term), held in self._merged():
                found = b"".join(self._moved(at, postings) for at, postings in held)
                if not found:
                    continue
                hashes.append(number)
                terms.extend(term)
                term_at.append(len(terms))
                total += len(found) // 4
                posting_at.append(total)
                yield found

        self._section("postings", each())
        self._array("hashes", hashes)
        self._array("term_at", term_at)
        self._array("posting_at", posting_at)
        self._section("terms", [bytes(terms)])

    def _merged(self) -> Iterator[tuple[tuple[int, bytes], list[tuple[int, Postings]]]]:
        def numbered(at: int, part: Part) -> Iterator[tuple[int, bytes, int, Postings]]:
            for number, term, postings in part.terms():
                yield number, term, at, postings

        streams = [numbered(at, part) for at, (part, _) in enumerate(self.parts)]
        both = streams[0] if len(streams) == 1 else merge(*streams, key=lambda item: item[:3])
        for key, items in groupby(both, key=lambda item: (item[0], item[1])):
            yield key, [(at, postings) for _, _, at, postings in items]

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
