"""Turns a place into splices: which lines are replaced, and with which endings.

Only lines that a hunk marks as old are removed, and only those it marks as new are added; context keeps
the file's own bytes. A new line gets the ending of the line that it replaces. The last line of a file
keeps its final newline, or the lack of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edits.files import diff
from edits.files.text import TextFile
from edits.hunk import Extent, HunkLine, LineKind
from edits.placing.found import Place

LONGEST_SAMPLE = 120
"""Characters of the line that stands for a change."""


@dataclass(frozen=True, slots=True)
class Splice:
    """From line ``start`` of the old text (from 0), ``old`` is replaced by ``new``: lines with endings."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def splices(file: TextFile, place: Place, newline: str) -> tuple[Splice, ...]:
    """The splices that land a hunk; ``newline`` is for a file without line endings."""
    usual = file.newline or newline
    return tuple(_splice(file, at, count, new, usual) for at, count, new in _runs(place.start, place.lines))


def with_final_newline(
    file: TextFile, changes: Sequence[Splice], wanted: bool, newline: str
) -> tuple[Splice, ...]:
    """``changes`` at the end of the file, with a final newline if it is ``wanted``, else without one."""
    ending = (file.newline or newline) if wanted else ""
    if changes and changes[-1].start + len(changes[-1].old) == len(file.lines):
        last = changes[-1]
        new = (*last.new[:-1], last.new[-1].rstrip("\r\n") + ending) if last.new else ()
        return (*changes[:-1], Splice(last.start, last.old, new))
    line = file.lines[-1]
    return (*changes, Splice(len(file.lines) - 1, (line + file.endings[-1],), (line + ending,)))


def spliced(file: TextFile, changes: Sequence[Splice]) -> str:
    """The file's text with ``changes`` made, which are in order and not adjacent."""
    pieces: list[str] = []
    done = 0
    for change in changes:
        begin = file.offset(change.start)
        pieces += (file.text[done:begin], *change.new)
        done = begin + sum(map(len, change.old))
    pieces.append(file.text[done:])
    return "".join(pieces)


def extent_of(changes: Sequence[Splice]) -> Extent:
    """How much ``changes`` change. Lines that a splice only carries along are not counted."""
    added = removed = 0
    come: str | None = None
    gone: str | None = None
    for splice in changes:
        for each in diff.changes(splice.old, splice.new):
            added += each.new_end - each.new_start
            removed += each.end - each.start
            come = _telling(splice.new[each.new_start : each.new_end], come)
            gone = _telling(splice.old[each.start : each.end], gone)
    sample = f"+{come}" if come is not None else f"-{gone}" if gone is not None else ""
    return Extent(added, removed, sample)


def _telling(lines: Sequence[str], known: str | None) -> str | None:
    """The first line that says something, shortened for a list."""
    if known is not None:
        return known
    return next((line.strip()[:LONGEST_SAMPLE] for line in lines if any(map(str.isalnum, line))), None)


def new_range(changes: Sequence[Splice]) -> tuple[int, int]:
    """The first line, from 1, and one past the last of what ``changes`` put into the new text."""
    shift = 0
    start, end = 0, 0
    for index, change in enumerate(changes):
        begin = change.start + shift
        if index == 0:
            start = begin
        end = begin + len(change.new)
        shift += len(change.new) - len(change.old)
    return start + 1, end + 1


def _runs(start: int, lines: Sequence[HunkLine]) -> Iterator[tuple[int, int, list[str]]]:
    """Each run of changed lines: its first line in the file, the number of old lines, the new lines."""
    at, count, new = start, 0, list[str]()
    for line in lines:
        if line.kind is LineKind.NEW:
            new.append(line.text)
        elif line.kind is LineKind.OLD:
            count += 1
        else:
            if count or new:
                yield at, count, new
                at, count, new = at + count, 0, []
            at += 1
    if count or new:
        yield at, count, new


def _splice(file: TextFile, at: int, count: int, new: Sequence[str], usual: str) -> Splice:
    gone = [file.lines[i] + file.endings[i] for i in range(at, at + count)]
    open_end = bool(file.lines) and file.endings[-1] == ""
    if open_end and at == len(file.lines) and new:
        # The last line has no newline. It gets one, since it is no longer the last; the new last has none.
        last = file.lines[-1]
        return Splice(at - 1, (last,), (last + usual, *_ended(new, [usual] * (len(new) - 1) + [""])))
    endings = list(file.endings[at : at + count])
    beside = file.endings[at - 1] if at else usual
    fallback = next((ending for ending in reversed(endings) if ending), beside or usual)
    endings = [endings[i] if i < len(endings) and endings[i] else fallback for i in range(len(new))]
    if open_end and at + count == len(file.lines) and new:
        endings[-1] = ""
    return Splice(at, tuple(gone), _ended(new, endings))


def _ended(lines: Sequence[str], endings: Sequence[str]) -> tuple[str, ...]:
    """Lines with their endings; an empty last one without an ending does not count."""
    whole = [line + ending for line, ending in zip(lines, endings, strict=True)]
    return tuple(line for line in whole if line)
