"""Caches the data that windows derive from a file's text.

The same few files are needed again while the user types, and from turn to turn.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property, partial, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from context.code.outline import Outline
from context.code.symbols import Symbol, long_definitions, unpack_layout
from context.disk.changes import Lines, line_sums
from context.disk.source import Source
from context.index.facts import masked_outline
from context.index.outliner import OUTLINER
from context.text.lines import TextLines, line_slices
from context.text.safe import safe_text
from context.text.secrets import Redacted, hints_in
from context.text.words import unique_tokens

_MOST = 128
_MOST_CHARACTERS = 3_000_000
"""Total length of all cached texts; the derived data takes several times as much."""


class FileText:
    """Derived data of one version of a file, computed when first used. Thread-safe."""

    def __init__(self, source: Source, layout: bytes = b"") -> None:
        self.source = source
        self._layout = layout
        self._outline: Outline | None = None

    @cached_property
    def sums(self) -> Lines:
        """The lines as checksums."""
        return line_sums(self.source)

    @cached_property
    def lines(self) -> TextLines:
        """The lines without their ends."""
        return TextLines(self.source.text)

    @property
    def starts(self) -> array[int]:
        """The index at which each line begins, and where one after the last would."""
        return self.lines.starts

    @cached_property
    def tokens(self) -> str:
        """The tokens of the text without repeats, one a line."""
        return unique_tokens(self.source.text)

    @cached_property
    def _hints(self) -> frozenset[str]:
        text = self.source.text
        return hints_in(text, self.tokens if text.isascii() else None)

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, made in slices where a call on all of it would take long."""
        text = self.source.text
        return text.lower() if text.isascii() else "".join(map(str.lower, line_slices(text)))

    @cached_property
    def safe(self) -> Redacted:
        """The text as it may be shown: secrets masked, and what :func:`harmless` replaces."""
        return safe_text(self.source.text, self._hints)

    @cached_property
    def safe_lines(self) -> TextLines:
        """The lines of the text as it may be shown."""
        return self.lines if self.safe.text == self.source.text else TextLines(self.safe.text)

    @property
    def outline(self) -> Outline:
        """The definitions with their line ranges, secrets masked."""
        return self.outlined(lambda: False)

    def outlined(self, is_closing: Callable[[], bool]) -> Outline:
        """The outline. Raises Abandoned if it was not there yet when ``is_closing``."""
        if self._outline is None:
            make = partial(OUTLINER.outline, is_closing=is_closing)
            found = make(self.source.path, self.source.text)
            self._outline = masked_outline(self.source, found, self._hints, make)
        return self._outline

    @property
    def long_definitions(self) -> tuple[Symbol, ...]:
        """The definitions of more than one line, perhaps without names and texts: without parsing, if the
        index knows them. They are unpacked each time: kept, the garbage collector would look at each."""
        found = unpack_layout(self._layout)
        return long_definitions(self.outline.symbols) if found is None else found

    def definitions_around(self, lines: Sequence[int]) -> tuple[Symbol, ...]:
        """The :attr:`long_definitions` with one of the sorted ``lines`` behind their first one, and perhaps
        others."""
        found = unpack_layout(self._layout, lines)
        return self.long_definitions if found is None else found


_T = TypeVar("_T")


def kept_with_file(work: Callable[[FileText], _T]) -> Callable[[FileText], _T]:
    """``work`` with its results kept as long as the file's own data; they must not refer to the file."""
    known: WeakKeyDictionary[FileText, _T] = WeakKeyDictionary()

    @wraps(work)
    def kept(file: FileText) -> _T:
        try:
            return known[file]
        except KeyError:
            found = known[file] = work(file)
            return found

    return kept


def file_text(source: Source, layout: bytes = b"") -> FileText:
    """The data derived from this version of a file, cached for the files used last. ``layout`` has the line
    ranges of its definitions, if they are known."""
    key = source.path, source.digest
    with _LOCK:
        found = _KNOWN.pop(key, None)
        known = found is not None and found.source.text == source.text
        if found is None or not known:
            found = FileText(source, layout)
        _KNOWN[key] = found
        if not known:
            size = sum(len(held.source.text) for held in _KNOWN.values())
            while len(_KNOWN) > 1 and (len(_KNOWN) > _MOST or size > _MOST_CHARACTERS):
                oldest = next(iter(_KNOWN))
                size -= len(_KNOWN.pop(oldest).source.text)
    return found


_LOCK = threading.Lock()
_KNOWN: dict[tuple[str, str], FileText] = {}
