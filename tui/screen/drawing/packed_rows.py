"""Finished rows in little memory: their text in one piece and numbers for the rest, in place of objects.

A conversation keeps thousands of rows, of which a screen shows a few dozen. A :class:`Row` takes 450 bytes
with all that it refers to, a packed one about 100. It is made anew each time that it is asked for.

A shelf for what is seldom looked at: on the disk, and in memory only what was looked at last.
"""

from __future__ import annotations

import logging
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from tui.screen.drawing.rows import DRAWN_ONLY, Row, Span

if TYPE_CHECKING:
    from session.base.storage.unnamed_files import Stored, UnnamedFiles


AT_HAND = 4
"""The pieces that are kept in memory as well: a pane shows rows of one or two."""
_FASTEST = 1
"""zlib's level that takes the least time."""


class Shelf:
    """Puts bytes away, and gets them again. Until :meth:`begin` says where to put them, it takes none."""

    def __init__(self) -> None:
        self._files: UnnamedFiles | None = None
        self._at_hand: dict[Stored, bytes] = {}
        """What was looked at last, the latest at the end."""
        self._told = False
        """Whether the log has a failure: there would be one for each row of each frame."""

    def begin(self, files: UnnamedFiles) -> None:
        """Put what comes from now on into ``files``."""
        self._files = files

    def put(self, data: bytes) -> Stored | None:
        """Put ``data`` away; None where whoever asks has to keep it."""
        return None if self._files is None else self._files.store(data)

    def get(self, stored: Stored) -> bytes | None:
        """What was put away; None where the disk does not give it, which the log tells once."""
        data = self._at_hand.pop(stored, None)
        if data is None:
            try:
                data = stored.read()
            except OSError as problem:
                if not self._told:
                    logging.getLogger("spark").error("the chat's scroll-back cannot be read: %s", problem)
                self._told = True
                return None
        self._at_hand[stored] = data
        if len(self._at_hand) > AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        return data


class ShelvedText:
    """A text in zlib's form: on the shelf, or in memory where that takes none."""

    __slots__ = ("_data", "_shelf", "_stored")

    def __init__(self, text: str, shelf: Shelf | None) -> None:
        data = zlib.compress(text.encode("utf-8", "surrogatepass"), _FASTEST)
        self._shelf = shelf
        self._stored = None if shelf is None else shelf.put(data)
        self._data: bytes | None = data if self._stored is None else None

    def read(self, missing: str) -> str:
        """The text; ``missing`` where the disk does not give it."""
        data = self._data
        if self._stored is not None and self._shelf is not None:
            data = self._shelf.get(self._stored)
        return missing if data is None else zlib.decompress(data).decode("utf-8", "surrogatepass")


_ENCODING, _ERRORS = "utf-8", "surrogatepass"
"""How the text is kept: one sign beyond Latin-1 would double the memory of all the others in a string."""


Kind = Literal["B", "H", "I"]
"""How many bytes a number takes: 1, 2 or 4."""
_FEW = 20
"""Rows of which fewer are kept as they are: what says where they lie would take as much."""
UNREADABLE = "  (this cannot be read from the disk)"


def _kind(numbers: Sequence[int]) -> Kind:
    """The kind of the greatest of ``numbers``."""
    most = max(numbers, default=0)
    return "B" if most < 1 << 8 else "H" if most < 1 << 16 else "I"


class _Columns(NamedTuple):
    """The text of all rows, and numbers for each."""

    text: bytes | memoryview[int]
    texts: array[int] | memoryview[int]
    """Where the text of each row begins, and behind the last one where it ends, in bytes."""
    first: array[int] | memoryview[int]
    """The first span of each row, and behind the last one the number of all."""
    ends: array[int] | memoryview[int]
    """Where each span ends, in characters of its row."""
    of_span: array[int] | memoryview[int]
    """The role of each span, by its place among all roles."""
    of_row: array[int] | memoryview[int]
    """The look of each row, by its place: what fills it, its ``skip`` and its ``joint``."""

    @classmethod
    def of(cls, data: bytes, parts: Iterable[tuple[Kind, int]]) -> _Columns:
        """The columns, from all of their bytes: the kind of numbers in each, and its length in bytes."""
        view, at = memoryview(data), 0
        columns: list[memoryview[int]] = []
        for kind, length in parts:
            columns.append(view[at : at + length].cast(kind))
            at += length
        return cls(*columns)


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

    def packed(self, shelf: Shelf | None = None) -> PackedRows:
        """All rows so far. They are put on the ``shelf``, if it takes any; a few are kept as they are."""
        return PackedRows(self, shelf)


class PackedRows(Sequence[Row]):
    """Rows that change no more. The same row is equal each time it is made, but not the same object."""

    __slots__ = ("_columns", "_count", "_looks", "_parts", "_raws", "_roles", "_shelf", "_stored")

    def __init__(self, packing: Packing, shelf: Shelf | None = None) -> None:
        lists = (packing._texts, packing._first, packing._ends, packing._of_span, packing._of_row)
        kinds = [_kind(numbers) for numbers in lists]
        arrays = [array(kind, numbers) for kind, numbers in zip(kinds, lists, strict=True)]
        columns = _Columns(bytes(packing._text), *arrays)
        self._count = len(packing)
        self._roles = tuple(packing._roles)
        self._looks = tuple(packing._looks)
        self._raws = packing._raws
        """The lines as they were written, of the few rows that are drawn in another way."""
        self._shelf = shelf
        lengths = (len(numbers) * numbers.itemsize for numbers in arrays)
        self._parts: tuple[tuple[Kind, int], ...] = (
            ("B", len(columns.text)),
            *zip(kinds, lengths, strict=True),
        )
        self._stored = shelf.put(b"".join(columns)) if shelf is not None and self._count >= _FEW else None
        self._columns = columns if self._stored is None else None

    @classmethod
    def of(cls, rows: Iterable[Row], shelf: Shelf | None = None) -> PackedRows:
        """``rows``, packed at once."""
        packing = Packing()
        packing.add(rows)
        return packing.packed(shelf)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            columns = self._read()
            return [self._row(number, columns) for number in range(*at.indices(self._count))]
        number = at + self._count if at < 0 else at
        if not 0 <= number < self._count:
            raise IndexError(at)
        return self._row(number, self._read())

    def __iter__(self) -> Iterator[Row]:
        columns = self._read()
        return (self._row(number, columns) for number in range(self._count))

    def _read(self) -> _Columns | None:
        """The columns; None where the disk does not give them."""
        if self._columns is not None or self._stored is None or self._shelf is None:
            return self._columns
        data = self._shelf.get(self._stored)
        return None if data is None else _Columns.of(data, self._parts)

    def _row(self, number: int, columns: _Columns | None) -> Row:
        if columns is None:
            return Row([(UNREADABLE, "error")], skip=DRAWN_ONLY)
        text = str(columns.text[columns.texts[number] : columns.texts[number + 1]], _ENCODING, _ERRORS)
        first, behind = columns.first[number], columns.first[number + 1]
        places = pairwise([0, *columns.ends[first:behind]])
        spans: list[Span] = [
            (text[start:end], self._roles[role])
            for (start, end), role in zip(places, columns.of_span[first:behind], strict=True)
        ]
        fill, skip, joint = self._looks[columns.of_row[number]]
        return Row(spans, fill, skip=skip, joint=joint, raw=self._raws.get(number))
