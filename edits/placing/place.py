"""Places a hunk in its file: by lines, by characters, or as the whole file, and so that it parses afterwards.

Whether it parses counts if the file parsed before and the place is not certain. A refactoring in several
hunks goes through states that do not parse, so a hunk whose old text is in the file as it was typed lands
whatever it does, unless another reading of it parses. What only a looser rung could place is not landed
where it breaks the file: the place is too likely to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edits.files.folding import fold, indentation, tells
from edits.files.text import TextFile
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement, Rung
from edits.newtext.soundness import unsound
from edits.placing.fitting import Site, fit
from edits.placing.found import Miss, Place, Present
from edits.placing.indent import shift_of
from edits.placing.locate import Symbols, locate
from edits.placing.miss_messages import describe_nearest
from edits.placing.splices import Splice, spliced, splices, with_final_newline
from edits.placing.substitution import Substitution, substitute
from edits.placing.whole_files import place_whole

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


Checker = Callable[[str, str], str | None]
"""Says what is wrong with a file's text, in a few words, or None: called with the path and the text."""


def place_parsed(
    file: TextFile, hunk: Hunk, symbols: Symbols, checker: Checker | None
) -> Placed | Present | Miss:
    """The place of ``hunk``, in a reading with which the file still parses if there is one."""
    found = place(file, hunk, symbols)
    if checker is None or not isinstance(found, Placed) or not found.splices:
        return found
    if found.rung is Rung.EXACT and not hunk.alternatives:
        return found
    wrong = checker(hunk.path, spliced(file, found.splices))
    if wrong is None or checker(hunk.path, file.text) is not None:
        return found
    for lines in hunk.alternatives:
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
