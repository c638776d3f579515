"""Places an edit by characters: it replaces one text by another, which may begin and end inside a line.

All line endings are compared as equal, and what both texts have in common at their ends keeps the file's
bytes. The text must occur once, unless all occurrences are to be replaced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from edits.files.text import TextFile, split, whole_lines
from edits.hunk import RefusalCode, Replacement, Rung
from edits.placing.found import Miss, Present
from edits.placing.miss_messages import describe_candidates
from edits.placing.splices import Splice

# A shorter new text may be in the file by chance, so it does not show that the edit was made before.
_TELLING = 12


@dataclass(frozen=True, slots=True)
class Substitution:
    """The splices that make the replacement. ``repeats`` says that each place has the new text already,
    as after an insertion beside the old text."""

    splices: tuple[Splice, ...]
    repeats: bool
    lines: tuple[int, int] | None = None
    """The first line from 0 and one past the last that the old text covers but for white space before it, if
    these are whole lines in one place."""


def substitute(
    file: TextFile, edit: Replacement, *, everywhere: bool
) -> Substitution | Present | Miss | None:
    """Place ``edit`` in ``file``; None if its old text is not there."""
    text = _flat(file.lines, file.endings)
    old, new = _flattened(edit.old), _flattened(edit.new)
    starts = list(_places(text, old, overlapping=not everywhere))
    lines = _Lines(file)
    if not starts:
        there = list(_places(text, new, overlapping=True)) if len(new.strip()) >= _TELLING else []
        if len(there) != 1:
            return None
        first, last = lines.of(there[0]), lines.of(there[0] + len(new.rstrip("\n")))
        return Present(first, last + 1, Rung.EXACT)
    if len(starts) > 1 and not everywhere:
        size = len(split(edit.old)[0])
        return Miss(RefusalCode.AMBIGUOUS, describe_candidates([lines.of(start) for start in starts], size))
    inside = new.find(old)
    repeats = inside >= 0 and all(
        start >= inside and text.startswith(new, start - inside) for start in starts
    )
    kept, kept_after = _shared(old, new)
    middle = new[kept : len(new) - kept_after]
    spans = [(start + kept, start + len(old) - kept_after) for start in starts]
    covered = lines.covered(starts[0], starts[0] + len(old)) if len(starts) == 1 else None
    return Substitution(tuple(lines.splices(spans, middle)), repeats, covered)


class _Lines:
    """A file's lines, found by an index in its text, where every ending counts as one character."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        widths = (len(line) + 1 for line in file.lines)
        self._begins = [0, *accumulate(widths)] if file.lines else [0]

    def of(self, at: int) -> int:
        """The line, from 0, of the character at ``at``."""
        return max(0, min(bisect_right(self._begins, at) - 1, len(self._file.lines) - 1))

    def covered(self, start: int, end: int) -> tuple[int, int] | None:
        """The lines between two indices, the end exclusive, if they are whole but for white space before."""
        first, last = self.of(start), self.of(max(start, end - 1))
        lines = self._file.lines
        if not lines or lines[first][: start - self._begins[first]].strip():
            return None
        return (first, last + 1) if end >= self._begins[last] + len(lines[last]) else None

    def splices(self, spans: Sequence[tuple[int, int]], new: str) -> Iterator[Splice]:
        """Splices of whole lines that replace each of ``spans`` by ``new``; spans in the same line or in
        adjacent ones are joined."""
        group: list[tuple[int, int]] = []
        for span in spans:
            if group and self.of(span[0]) > self.of(group[-1][1]) + 1:
                yield self._splice(group, new)
                group = []
            group.append(span)
        if group:
            yield self._splice(group, new)

    def _splice(self, spans: Sequence[tuple[int, int]], new: str) -> Splice:
        first, last = self.of(spans[0][0]), self.of(spans[-1][1])
        file = self._file
        ending = file.endings[first] or (file.endings[first - 1] if first else "") or "\n"
        typed = new.replace("\n", ending)
        pieces: list[str] = []
        done = self._begins[first]
        for start, end in spans:
            pieces += (self._real(done, start), typed)
            done = end
        pieces.append(self._real(done, self._begins[last + 1]))
        before = [file.lines[line] + file.endings[line] for line in range(first, last + 1)]
        after = whole_lines("".join(pieces))
        skip = 0
        while skip < min(len(before), len(after)) and before[skip] == after[skip]:
            skip += 1
        drop = 0
        while drop < min(len(before), len(after)) - skip and before[-1 - drop] == after[-1 - drop]:
            drop += 1
        stop = len(before) - drop
        return Splice(first + skip, tuple(before[skip:stop]), tuple(after[skip : len(after) - drop]))

    def _real(self, start: int, end: int) -> str:
        """The file's own text between two indices."""
        pieces: list[str] = []
        at, line = start, self.of(start)
        while at < end and line < len(self._file.lines):
            text, begin = self._file.lines[line], self._begins[line]
            pieces.append(text[at - begin : end - begin])
            at = self._begins[line + 1]
            if at <= end:
                pieces.append(self._file.endings[line])
            line += 1
        return "".join(pieces)


def _flat(lines: Sequence[str], endings: Sequence[str]) -> str:
    text = "\n".join(lines)
    return text + "\n" if endings and endings[-1] else text


def _flattened(text: str) -> str:
    return _flat(*split(text)) if "\r" in text else text


def _places(text: str, wanted: str, *, overlapping: bool) -> Iterator[int]:
    step = 1 if overlapping else max(1, len(wanted))
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + step)


def _shared(old: str, new: str) -> tuple[int, int]:
    """The number of characters that both texts have in common at the beginning and at the end."""
    most = min(len(old), len(new))
    before = 0
    while before < most and old[before] == new[before]:
        before += 1
    after = 0
    while after < most - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after
