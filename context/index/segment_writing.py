"""Writes a segment of the index from a draft, or from several segments (see :mod:`context.index.segment`)."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from context.disk.changes import Lines
from context.index.cache import replacing
from context.index.part import COUNT_BITS, MOST_COUNTED, Packable, Postings, TermSlice
from context.index.segment import FENCED, MARK, TAIL, state_hash


def write_segment(parts: Sequence[tuple[Packable, bytes | None]], file: Path) -> None:
    """Write the files of ``parts`` as one segment.

    A part's mask has a byte for each file, which is left out if the byte is 0; None keeps all. The segment
    appears whole or not at all. Raises OSError.
    """
    with replacing(file) as out:
        _Writing(out, parts).write()


class _Writing:
    """The state of one segment while it is written."""

    def __init__(self, out: BinaryIO, parts: Sequence[tuple[Packable, bytes | None]]) -> None:
        self.out = out
        self.parts = parts
        self.sections: dict[str, list[int]] = {}
        self.moves: list[int | list[int]] = []
        """For each part the amount added to its numbers, or the new number of each file, -1 for none."""
        self.docs: list[tuple[Packable, int]] = []
        for part, mask in parts:
            start = len(self.docs)
            if mask is None or all(mask[: len(part)]):
                self.moves.append(start)
                self.docs += ((part, number) for number in range(len(part)))
                continue
            kept = [number for number in range(len(part)) if mask[number]]
            new = [-1] * len(part)
            for at, number in enumerate(kept):
                new[number] = start + at
            self.moves.append(new)
            self.docs += ((part, number) for number in kept)

    def write(self) -> None:
        self.out.write(MARK)
        self._write_terms()
        docs = self.docs
        self._write_texts("paths", "path_at", (part.path(n).encode("utf-8", "replace") for part, n in docs))
        self._write_texts(
            "outlines", "outline_at", (part.outline(n).encode("utf-8", "replace") for part, n in docs)
        )
        self._write_texts("names", "names_at", (part.names(n).encode("utf-8", "replace") for part, n in docs))
        self._write_texts("lines", "lines_at", (_packed_lines(part.lines(n)) for part, n in docs))
        self._write_texts("layout", "layout_at", (part.layout(n) for part, n in docs))
        self._section("digests", (bytes.fromhex(part.digest(n)) for part, n in docs))
        self._array("lengths", array("I", (part.lengths[n] for part, n in docs)))
        states = sorted((state_hash(part.path(n), part.digest(n)), at) for at, (part, n) in enumerate(docs))
        self._array("state_hashes", array("I", (state for state, _ in states)))
        self._array("state_numbers", array("I", (at for _, at in states)))
        table = json.dumps(self.sections).encode()
        self.out.write(table + TAIL.pack(len(table), crc32(table)) + MARK)

    def _write_terms(self) -> None:
        numbers, ends = array("Q"), array("I", (0,))

        def each() -> Iterator[bytes]:
            for found in self._alone() if self.moves == [0] else self._merged():
                before = ends[-1]
                numbers.extend(found.numbers)
                ends.extend([before + end for end in found.ends])
                yield found.postings.tobytes()

        self._section("postings", each())
        self._array("terms", numbers)
        self._array("ends", ends)
        self._array("fences", numbers[::FENCED])

    def _alone(self) -> Iterator[TermSlice]:
        """The terms of a single part, whose files keep their numbers."""
        return self.parts[0][0].slices()

    def _merged(self) -> Iterator[TermSlice]:
        """The terms of all parts with their postings joined."""
        for slices in zip(*(part.slices() for part, _ in self.parts), strict=True):
            joined: dict[int, Postings] = {}
            for move, found in zip(self.moves, slices, strict=True):
                _join(joined, found, move)
            merged = TermSlice(array("Q"), array("I"), array("I"))
            for number in sorted(joined):
                merged.numbers.append(number)
                merged.postings.extend(joined[number])
                merged.ends.append(len(merged.postings))
            yield merged

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
        checksum = 0
        for chunk in chunks:
            checksum = crc32(chunk, checksum)
            self.out.write(chunk)
        self.sections[name] = [start, self.out.tell(), checksum]


def _join(joined: dict[int, Postings], found: TermSlice, move: int | list[int]) -> None:
    """Add the terms of one part's slice to those of the parts before it, with its files' new numbers."""
    if isinstance(move, int):
        shift = move << COUNT_BITS
        postings = array("I", [packed + shift for packed in found.postings])
    else:
        postings = found.postings
    at = 0
    for number, end in zip(found.numbers, found.ends, strict=True):
        held = postings[at:end] if isinstance(move, int) else _kept(postings[at:end], move)
        at = end
        if number in joined:
            joined[number].extend(held)
        elif held:
            joined[number] = held


def _kept(postings: Postings, new: list[int]) -> Postings:
    return array(
        "I",
        [
            new[packed >> COUNT_BITS] << COUNT_BITS | packed & MOST_COUNTED
            for packed in postings
            if new[packed >> COUNT_BITS] >= 0
        ],
    )


def _packed_lines(lines: Lines | None) -> bytes:
    return b"" if lines is None else b"\0\0\0\0" + lines.tobytes()
