"""Places a hunk in its file: by lines, by characters, or as the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edits.files.diff import changes
from edits.files.text import TextFile
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement, Rung
from edits.placing.fold import fold
from edits.placing.hints import describe_nearest
from edits.placing.locate import Miss, Place, Present, Symbols, locate
from edits.placing.splices import Splice, splices, with_final_newline
from edits.placing.substitution import substitute


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
