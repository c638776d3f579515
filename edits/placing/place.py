"""Places a hunk in its file: by lines, by characters, or as the whole file, and so that it parses afterwards.

Whether it parses counts if the file parsed before and the place is not certain. A refactoring in several
hunks goes through states that do not parse, so a hunk whose old text is in the file as it was typed lands
whatever it does, unless another reading of it parses. What only a looser rung could place is not landed
where it breaks the file: the place is too likely to be wrong.

An edit by characters replaces one text by another, which may begin and end inside a line. All line endings
are compared as equal, and what both texts have in common at their ends keeps the file's bytes. The text must
occur once, unless all occurrences are to be replaced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from edits.files.folding import fold, indentation, shared_indentation, tells
from edits.files.text import TextFile, split, whole_lines
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement, Rung
from edits.newtext.markup import has_entities, unescaped
from edits.newtext.soundness import unsound
from edits.placing.fitting import Site, fit
from edits.placing.found import Miss, Place, Present
from edits.placing.indent import shift_of
from edits.placing.locate import Symbols, locate
from edits.placing.miss_messages import describe_candidates, describe_nearest
from edits.placing.splices import Splice, spliced, splices, with_final_newline
from edits.placing.whole_files import place_whole

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


_CHANGED = "the lines that it is for have changed since"
"""Why a hunk that a program made has no place."""


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
    if hunk.made:
        stands = _place_made(file.lines, hunk)
        return stands if isinstance(stands, Miss) else _by_lines(file, stands, hunk)
    if hunk.format is Format.WHOLE:
        whole = place_whole(file.lines, hunk)
        return whole if isinstance(whole, Miss) else _by_lines(file, whole, hunk)
    if hunk.replacement is not None:
        found = _by_characters(file, hunk, hunk.replacement)
        if found is not None:
            return found
    located = locate(file.lines, hunk, symbols)
    return _by_lines(file, located, hunk) if isinstance(located, Place) else located


def _place_made(lines: Sequence[str], hunk: Hunk) -> Place | Miss:
    """The place of a hunk that a program made of two texts of the file, so that nothing in it is a slip: its
    lines are where they were, or in one other place, or else it is refused."""
    old = hunk.old
    at = (hunk.line_hint or 1) - 1
    if _stands_at(lines, old, at):
        return Place(at, at + len(old), Rung.EXACT, hunk.lines)
    found = (
        [start for start in range(len(lines) - len(old) + 1) if _stands_at(lines, old, start)] if old else []
    )
    if len(found) != 1:
        return Miss(RefusalCode.AMBIGUOUS if found else RefusalCode.NO_MATCH, _CHANGED)
    return Place(found[0], found[0] + len(old), Rung.EXACT, hunk.lines)


def _stands_at(lines: Sequence[str], old: Sequence[str], at: int) -> bool:
    return (not old or (at < len(lines) and lines[at] == old[0])) and tuple(
        lines[at : at + len(old)]
    ) == tuple(old)


def _by_characters(file: TextFile, hunk: Hunk, typed: Replacement) -> Placed | Present | Miss | None:
    """The place of an edit by characters; None if its lines are to be searched for."""
    edit = _with_its_endings(typed)
    if edit is None:
        message = "the new text lacks the line ends that the old one ends with: write them, or leave them out"
        return Miss(RefusalCode.MALFORMED, message)
    found = substitute(file, edit, everywhere=hunk.replace_all)
    if found is None and has_entities([typed.old]):
        plain = Replacement(unescaped(typed.old), unescaped(typed.new))
        lines = tuple(HunkLine(line.kind, unescaped(line.text)) for line in hunk.lines)
        placed = _by_characters(file, replace(hunk, replacement=plain, lines=lines), plain)
        if isinstance(placed, Placed):
            return replace(placed, rung=max(placed.rung, Rung.FOLDED))
    if found is None and _joins(edit):
        return Miss(RefusalCode.NO_MATCH, describe_nearest(file.lines, hunk.old))
    if not isinstance(found, Substitution):
        return found
    wrong = unsound(hunk.path, file.lines, hunk.lines, hunk.format)
    if wrong is not None:
        return Miss(RefusalCode.MALFORMED, wrong)
    fitted = _fitted(file, hunk, found.lines) if found.lines is not None else None
    if fitted is not None:
        return fitted if isinstance(fitted, Miss) else _by_lines(file, fitted, hunk)
    made = tuple(splice for splice in found.splices if splice.old != splice.new)
    first = found.splices[0].start + 1
    rung = Rung.EXACT if edit == typed else Rung.FOLDED
    return Placed(made, rung, first, first + 1, found.repeats)


def _with_its_endings(edit: Replacement) -> Replacement | None:
    """The edit with the line end at its own end, or beginning, that the old text has and the new one lacks.

    Without it the next line of the file, or the one above, would be joined to the new text. None if it is
    not certain how many are meant.
    """
    old, new = edit.old, edit.new
    if not new.strip() or not old.strip("\r\n"):
        return edit
    bare = new == old.rstrip("\r\n")
    if old.endswith("\n") and not bare and not new.endswith(("\n", " ", "\t")):
        if old.endswith(("\n\n", "\r\n\r\n")):
            return None
        new += "\r\n" if old.endswith("\r\n") else "\n"
    begun = old.lstrip("\r\n")
    if len(begun) < len(old) and new[0] not in "\r\n":
        depth = indentation(begun)
        if depth and indentation(new) == depth:
            new = old[: len(old) - len(begun)] + new
    return Replacement(old, new)


def _fitted(file: TextFile, hunk: Hunk, covered: tuple[int, int]) -> Place | Miss | None:
    """The edit by its lines, if they are not indented as they are to be in the file; None if they are."""
    start, end = covered
    actual = fold(file.lines[start:end])
    typed = fold(hunk.old)
    shift = shift_of(actual, typed) if len(actual) == len(typed) else None
    if shift is None:
        return None
    site = Site(file.lines, start, end)
    fitted = fit(site, hunk.lines, shift, hunk.format, woven=False)
    if isinstance(fitted, str):
        return Miss(RefusalCode.MALFORMED, fitted)
    if fitted is None or _texts(fitted) == _texts(_as_replaced(hunk.lines, actual, typed)):
        return None
    return Place(start, end, Rung.INDENT, fitted)


def _as_replaced(lines: Sequence[HunkLine], actual: Sequence[str], typed: Sequence[str]) -> list[HunkLine]:
    """The lines as a replacement by characters leaves them, after what is before the old text."""
    before = actual[0][: len(actual[0]) - len(typed[0])] if actual[0].endswith(typed[0]) else ""
    first = next((index for index, line in enumerate(lines) if line.kind is not LineKind.OLD), None)
    return [
        HunkLine(line.kind, before + line.text) if index == first and line.kind is LineKind.NEW else line
        for index, line in enumerate(lines)
    ]


def _texts(lines: Sequence[HunkLine]) -> list[str]:
    return [line.text for line in lines if line.kind is LineKind.NEW]


def deletes_as_it_is(file: TextFile, hunk: Hunk) -> Miss | None:
    """Compare the text that a deletion shows, if any, with the file; None if they are the same."""
    if not hunk.lines or _bare(hunk.old) == _bare(file.lines):
        return None
    message = f"the file differs from what the edit deletes: {describe_nearest(file.lines, hunk.old)}"
    return Miss(RefusalCode.NO_MATCH, message)


def _by_lines(file: TextFile, found: Place, hunk: Hunk) -> Placed | Present:
    beside = _stands_beside(file.lines, found)
    if beside is not None and found.rung is not Rung.EXACT:
        # The text that was to be found is not quite the file's, because the edit was made before.
        return Present(*beside, found.rung)
    made = splices(file, found, hunk.newline)
    if hunk.final_newline is not None and file.lines and found.end == len(file.lines):
        made = with_final_newline(file, made, hunk.final_newline, hunk.newline)
    made = tuple(splice for splice in made if splice.old != splice.new)
    new = [line.text for line in found.lines if line.kind is not LineKind.OLD]
    while len(new) > 1 and not new[-1].strip() and hunk.final_newline is None:
        new.pop()
    same = list(file.lines[found.start : found.start + len(new)]) == new and hunk.final_newline is None
    end = found.start + len(new) if same else found.end
    return Placed(made, found.rung, found.start + 1, end + 1, same or beside is not None)


def _stands_beside(lines: Sequence[str], found: Place) -> tuple[int, int] | None:
    """The lines that the hunk would insert, where the file has them right above or below the hunk already;
    None if it changes anything else."""
    reading = found.lines
    first = next((i for i, line in enumerate(reading) if line.kind is not LineKind.NEW), len(reading))
    last = next((i for i, line in enumerate(reversed(reading)) if line.kind is not LineKind.NEW), 0)
    middle = reading[first : len(reading) - last]
    if not middle or any(line.kind is not LineKind.CONTEXT for line in middle) or not (first or last):
        return None
    above, below = _texts(reading[:first]), _texts(reading[len(reading) - last :])
    start, end = found.start - len(above), found.end + len(below)
    if (
        start < 0
        or fold(lines[start : found.start]) != fold(above)
        or fold(lines[found.end : end]) != fold(below)
    ):
        return None
    return (start, end) if any(map(tells, (*above, *below))) else None


def _joins(edit: Replacement) -> bool:
    """Whether the edit joins the text after it to its last line, or splits it off; lines cannot do that."""
    return bool(edit.new) and edit.old.endswith("\n") != edit.new.endswith("\n")


def _bare(lines: Sequence[str]) -> list[str]:
    bare = fold(lines)
    while bare and not bare[-1]:
        bare.pop()
    return bare


def _deeper(hunk: Hunk) -> list[tuple[HunkLine, ...]]:
    """The hunk with its new lines at the depth of the old ones, where all of them lack it."""
    old, new = (shared_indentation(texts) for texts in (hunk.old, hunk.new))
    if hunk.replacement is not None or not old.startswith(new) or old == new:
        return []
    lacks = old[len(new) :]
    deeper = [lacks + line.text if line.text.strip() else line.text for line in hunk.lines]
    return [
        tuple(
            HunkLine(line.kind, text) if line.kind is LineKind.NEW else line
            for line, text in zip(hunk.lines, deeper, strict=True)
        )
    ]


Checker = Callable[[str, str], str | None]
"""Says what is wrong with a file's text, in a few words, or None: called with the path and the text."""


def place_parsed(
    file: TextFile, hunk: Hunk, symbols: Symbols, checker: Checker | None
) -> Placed | Present | Miss:
    """The place of ``hunk``, in a reading with which the file still parses if there is one."""
    found = place(file, hunk, symbols)
    if checker is None or not isinstance(found, Placed) or not found.splices:
        return found
    if found.rung is Rung.EXACT and not (hunk.alternatives or _deeper(hunk)):
        return found
    wrong = checker(hunk.path, spliced(file, found.splices))
    if wrong is None or checker(hunk.path, file.text) is not None:
        return found
    for lines in (*hunk.alternatives, *_deeper(hunk)):
        other = place(file, replace(hunk, lines=lines, alternatives=()), symbols)
        if not isinstance(other, Placed) or not other.splices:
            continue
        if checker(hunk.path, spliced(file, other.splices)) is None:
            return other
    if found.rung is Rung.EXACT:
        return found
    where = f"lines {found.start}-{found.end - 1}" if found.end - 1 > found.start else f"line {found.start}"
    message = f"the text is not quite that of {where}, and with the edit there: {wrong}"
    return Miss(RefusalCode.NO_MATCH, f"{message}; write the old text exactly as it is in the file")
