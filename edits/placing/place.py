"""Places a hunk in its file: by lines, by characters, or as the whole file.

Places an edit by characters: it replaces one text by another, which may begin and end inside a line.

All line endings are compared as equal, and what both texts have in common at their ends keeps the file's
bytes. The text must occur once, unless all occurrences are to be replaced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from edits.files.diff import changes
from edits.files.text import TextFile, split, whole_lines
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement, Rung
from edits.placing.hints import describe_candidates, describe_nearest, fold
from edits.placing.locate import Miss, Place, Present, Symbols, locate
from edits.placing.splices import Splice, splices, with_final_newline

# A shorter new text may be in the file by chance, so it does not show that the edit was made before.
_TELLING = 12


@dataclass(frozen=True, slots=True)
class Substitution:
    """The splices that make the replacement. ``repeats`` says that each place has the new text already,
    as after an insertion beside the old text."""

    splices: tuple[Splice, ...]
    repeats: bool


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
    return Substitution(tuple(lines.splices(spans, middle)), repeats)


class _Lines:
    """A file's lines, found by an index in its text, where every ending counts as one character."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        widths = (len(line) + 1 for line in file.lines)
        self._begins = [0, *accumulate(widths)] if file.lines else [0]

    def of(self, at: int) -> int:
        """The line, from 0, of the character at ``at``."""
        return max(0, min(bisect_right(self._begins, at) - 1, len(self._file.lines) - 1))

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


@dataclass(frozen=True, slots=True)
class Placed:
    """The splices that land a hunk; none if the file is already as the hunk wants it.

    ``start`` and ``end`` are the lines of its new text if that is there already, from 1, end exclusive.
    ``repeats`` says that the new text is there now, so that the hunk may have landed before.
    """

    splices: tuple[Splice, ...]
    rung: Rung
    start: int
    end: int
    repeats: bool


def place(file: TextFile, hunk: Hunk, symbols: Symbols = lambda: ()) -> Placed | Present | Miss:
    """Find the place of ``hunk`` in ``file``."""
    if hunk.format is Format.WHOLE:
        return _by_lines(file, Place(0, len(file.lines), Rung.EXACT, tuple(_whole(file, hunk))), hunk)
    if hunk.replacement is not None:
        found = substitute(file, hunk.replacement, everywhere=hunk.replace_all)
        if found is not None and not isinstance(found, (Present, Miss)):
            first = found.splices[0].start + 1
            made = tuple(splice for splice in found.splices if splice.old != splice.new)
            return Placed(made, Rung.EXACT, first, first + 1, found.repeats)
        if found is not None:
            return found
        if _joins(hunk.replacement):
            return Miss(RefusalCode.NO_MATCH, describe_nearest(file.lines, hunk.old))
    located = locate(file.lines, hunk, symbols)
    return _by_lines(file, located, hunk) if isinstance(located, Place) else located


def deletes_as_it_is(file: TextFile, hunk: Hunk) -> Miss | None:
    """Compare the text that a deletion shows, if any, with the file; None if they are the same."""
    if not hunk.lines or _bare(hunk.old) == _bare(file.lines):
        return None
    message = f"the file differs from what the edit deletes: {describe_nearest(file.lines, hunk.old)}"
    return Miss(RefusalCode.NO_MATCH, message)


def _by_lines(file: TextFile, found: Place, hunk: Hunk) -> Placed:
    made = splices(file, found, hunk.newline)
    if hunk.final_newline is not None and file.lines and found.end == len(file.lines):
        made = with_final_newline(file, made, hunk.final_newline, hunk.newline)
    made = tuple(splice for splice in made if splice.old != splice.new)
    new = [line.text for line in found.lines if line.kind is not LineKind.OLD]
    repeats = list(file.lines[found.start : found.start + len(new)]) == new and hunk.final_newline is None
    end = found.start + len(new) if repeats else found.end
    return Placed(made, found.rung, found.start + 1, end + 1, repeats)


def _whole(file: TextFile, hunk: Hunk) -> Iterator[HunkLine]:
    """A rewrite of the file as an edit: unchanged lines are context, so that they keep their endings."""
    new, at = hunk.new, 0
    for change in changes(file.lines, new):
        yield from (HunkLine(LineKind.CONTEXT, text) for text in file.lines[at : change.start])
        yield from (HunkLine(LineKind.OLD, text) for text in file.lines[change.start : change.end])
        yield from (HunkLine(LineKind.NEW, text) for text in new[change.new_start : change.new_end])
        at = change.end
    yield from (HunkLine(LineKind.CONTEXT, text) for text in file.lines[at:])


def _joins(edit: Replacement) -> bool:
    """Whether the edit joins the text after it to its last line, or splits it off; lines cannot do that."""
    return bool(edit.new) and edit.old.endswith("\n") != edit.new.endswith("\n")


def _bare(lines: Sequence[str]) -> list[str]:
    bare = fold(lines)
    while bare and not bare[-1]:
        bare.pop()
    return bare
