"""The hunks of what a program did to a file: its bytes before and after, as edits that are reviewed, held,
merged and undone like those of a model."""

from __future__ import annotations

from dataclasses import replace

from edits.files.diff import edited
from edits.files.text import FileError, TextFile, decode
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement
from edits.placing.found import Miss, Present
from edits.placing.place import place
from edits.placing.splices import spliced
from edits.placing.whole_parts import hunks_of

_AROUND = 3


def made_hunks(path: str, before: bytes | None, after: bytes | None) -> tuple[Hunk, ...]:
    """The hunks that make ``after`` of ``before``, one after the other; None stands for no file.

    Raises FileError for what is no text, and for changes that lines cannot tell, such as of line endings.
    """
    if after is None:
        old = () if before is None else decode(before, path).lines
        lines = tuple(HunkLine(LineKind.OLD, line) for line in old)
        return () if before is None else (Hunk(path, Action.DELETE, Format.UNIFIED, lines, made=True),)
    new = decode(after, path)
    if not before:
        return (_added(path, new, after),)
    file = decode(before, path)
    for hunks in (_changed(path, file, new), _replaced(path, file, new)):
        if _landed(file, hunks) == after:
            return hunks
    raise FileError(RefusalCode.MALFORMED, f"{path}: its encoding or its line endings change")


def moved_hunk(path: str, moved_to: str) -> Hunk:
    """The hunk that moves a file as it is."""
    return Hunk(path, Action.MOVE, Format.UNIFIED, move_to=moved_to, made=True)


def _added(path: str, new: TextFile, after: bytes) -> Hunk:
    if new.bom or new.text.encode() != after:
        raise FileError(RefusalCode.BINARY, f"{path}: its encoding is {new.encoding}, and not plain UTF-8")
    lines = tuple(HunkLine(LineKind.NEW, line) for line in new.lines)
    return Hunk(
        path, Action.ADD, Format.UNIFIED, lines, replacement=Replacement("", after.decode()), made=True
    )


def _changed(path: str, file: TextFile, new: TextFile) -> tuple[Hunk, ...]:
    hunk = Hunk(path, Action.UPDATE, Format.UNIFIED, made=True)
    reading = edited(file.lines, new.lines)
    hunks = tuple(hunks_of(reading, hunk)) if file.lines != new.lines else ()
    ends, ended = _ends(new), _ends(file)
    if ends == ended or not new.lines:
        return hunks
    if not hunks or reading[-len(hunks[-1].lines) :] != hunks[-1].lines:
        last = tuple(HunkLine(LineKind.CONTEXT, line) for line in new.lines[-_AROUND:])
        hunks += (replace(hunk, lines=last, line_hint=len(new.lines) - len(last) + 1),)
    return (*hunks[:-1], replace(hunks[-1], final_newline=ends))


def _replaced(path: str, file: TextFile, new: TextFile) -> tuple[Hunk, ...]:
    """One hunk that replaces all lines: where the last ones go, the new last one may lose its ending."""
    gone = tuple(HunkLine(LineKind.OLD, line) for line in file.lines)
    lines = (*gone, *(HunkLine(LineKind.NEW, line) for line in new.lines))
    return (
        Hunk(path, Action.UPDATE, Format.UNIFIED, lines, line_hint=1, final_newline=_ends(new), made=True),
    )


def _ends(file: TextFile) -> bool:
    """Whether the last line has an ending."""
    return bool(file.endings and file.endings[-1])


def _landed(file: TextFile, hunks: tuple[Hunk, ...]) -> bytes:
    """The file's bytes once ``hunks`` have landed in it."""
    text = file.encode(file.text)
    for hunk in hunks:
        at = decode(text, hunk.path)
        found = place(at, hunk)
        if isinstance(found, Miss | Present):
            return b""
        text = at.encode(spliced(at, found.splices))
    return text
