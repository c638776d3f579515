"""Finished rows in little memory: their text in one piece and numbers for the rest, in place of objects.

A conversation keeps thousands of rows, of which a screen shows a few dozen. A :class:`Row` takes 450 bytes
with all that it refers to, a packed one about 100. It is made anew each time that it is asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

from tui.drawing.rows import Row, Span

_ENCODING, _ERRORS = "utf-8", "surrogatepass"
"""How the text is kept: one sign beyond Latin-1 would double the memory of all the others in a string."""


def _numbers(numbers: Sequence[int]) -> array[int]:
    """``numbers`` in as few bytes each as the greatest needs."""
    most = max(numbers, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", numbers)


class Packing:
    """Packs rows piece by piece, so that no piece takes long."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._texts, self._first = [0], [0]
        self._ends, self._of_span, self._of_row = list[int](), list[int](), list[int]()
        self._raws: dict[int, str] = {}
        self._roles: dict[str, int] = {}
        self._looks: dict[tuple[str, int, str | None], int] = {}

    def __len__(self) -> int:
        return len(self._of_row)

    def add(self, rows: Iterable[Row]) -> None:
        """Add the next rows."""
        for row in rows:
            if row.raw is not None:
                self._raws[len(self._of_row)] = row.raw
            self._text += row.text.encode(_ENCODING, _ERRORS)
            self._texts.append(len(self._text))
            end = 0
            for piece, role in row.spans:
                end += len(piece)
                self._ends.append(end)
                self._of_span.append(self._roles.setdefault(role, len(self._roles)))
            self._first.append(len(self._ends))
            look = (row.fill, row.skip, row.joint)
            self._of_row.append(self._looks.setdefault(look, len(self._looks)))

    def packed(self) -> PackedRows:
        """All rows so far."""
        return PackedRows(self)


class PackedRows(Sequence[Row]):
    """Rows that change no more. The same row is equal each time it is made, but not the same object."""

    __slots__ = ("_ends", "_first", "_looks", "_of_row", "_of_span", "_raws", "_roles", "_text", "_texts")

    def __init__(self, packing: Packing) -> None:
        self._text = bytes(packing._text)
        self._texts = _numbers(packing._texts)
        """Where the text of each row begins, and behind the last one where it ends, in bytes."""
        self._first = _numbers(packing._first)
        """The first span of each row, and behind the last one the number of all."""
        self._ends = _numbers(packing._ends)
        """Where each span ends, in characters of its row."""
        self._of_span, self._roles = _numbers(packing._of_span), tuple(packing._roles)
        """The role of each span, by its place among all roles."""
        self._of_row, self._looks = _numbers(packing._of_row), tuple(packing._looks)
        """The look of each row, by its place: what fills it, its ``skip`` and its ``joint``."""
        self._raws = packing._raws
        """The lines as they were written, of the few rows that are drawn in another way."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> PackedRows:
        """``rows``, packed at once."""
        packing = Packing()
        packing.add(rows)
        return packing.packed()

    def __len__(self) -> int:
        return len(self._of_row)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self._row(number) for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(at)
        return self._row(number)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, range(len(self)))

    def _row(self, number: int) -> Row:
        text = self._text[self._texts[number] : self._texts[number + 1]].decode(_ENCODING, _ERRORS)
        first, behind = self._first[number], self._first[number + 1]
        places = pairwise((0, *self._ends[first:behind]))
        spans: list[Span] = [
            (text[start:end], self._roles[role])
            for (start, end), role in zip(places, self._of_span[first:behind], strict=True)
        ]
        fill, skip, joint = self._looks[self._of_row[number]]
        return Row(spans, fill, skip=skip, joint=joint, raw=self._raws.get(number))
