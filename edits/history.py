"""Where a past change stands now, and how to take it back: the arithmetic of undo.

A change's lines are carried forward through every later recorded change of its file, through moves,
and through a diff where someone else wrote in between. If the text there is still what the change
put, it is swapped back; else the three ways are merged; else it is a conflict and nothing happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from edits.diff import changes
from edits.entry import Entry
from edits.hunk import RefusalCode
from edits.merge import merge3
from edits.plan import Splice, new_range
from edits.text import FileError, TextFile, decode, split, whole_lines

Contents = Callable[[str], bytes]
Span = tuple[int, int]
"""Lines, from 0, the end one past the last."""
Shift = tuple[int, int, int]
"""Lines ``start`` to ``end`` became so many lines."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a change's file is now, and where in it the change's spans are."""

    path: str
    sha256: str
    """The content the spans are counted in: the newest recorded one."""
    spans: tuple[Span, ...]
    deleted_by: Entry | None
    moved_by: Entry | None


def inverse(entry: Entry) -> list[Splice]:
    """The splices that turn the text after ``entry`` into the text before it."""
    shift = 0
    found: list[Splice] = []
    for splice in entry.splices:
        found.append(_kernel(Splice(splice.start + shift, splice.new, splice.old)))
        shift += len(splice.new) - len(splice.old)
    return found


def carry(span: Span, shifts: Sequence[Shift], ties: Sequence[int | None] = ()) -> Span:
    """``span`` after ``shifts`` (in order). One that cuts into the span widens it.

    For lines put at just the place of an empty span, the shift's item of ``ties`` says how many of them
    stand above it (none, if there is no item); None when it belongs to both sides, and is widened.
    """
    start, end = span
    before = inside = 0
    low, high = start, end
    for number, (first, last, lines) in enumerate(shifts):
        if first == last == start == end:
            above = ties[number] if number < len(ties) else 0
            inside += lines if above is None else 0
            before += min(above or 0, lines)
        elif last <= start:
            before += lines - (last - first)
        elif first >= end:
            break
        else:
            low, high = min(low, first), max(high, last)
            inside += lines - (last - first)
    return low + before, high + before + inside


def follow(entry: Entry, entries: Sequence[Entry], contents: Contents) -> Trail:
    """Carry the lines that ``entry`` put through the later ``entries``."""
    path, sha256 = entry.place, entry.after or entry.before or ""
    spans = [(splice.start, splice.start + len(splice.old)) for splice in inverse(entry)]
    deleted_by = moved_by = None
    # Where each span was within what a later change took away, for when that comes back.
    within: dict[int, list[list[int]]] = {}
    for later in entries:
        if later.seq <= entry.seq or later.path != path:
            continue
        found = later.before or later.after or ""
        if found != sha256:
            spans = _through_diff(spans, contents(sha256), contents(found))
        if later.before is not None and later.after is not None:
            shifts = _shifts(later.splices)
            within[later.seq] = [[_within(span[0], shift) for shift in shifts] for span in spans]
            spans = [
                carry(span, shifts, _ties(entry, number, later, entries, within))
                for number, span in enumerate(spans)
            ]
        deleted_by = later if later.after is None else None
        if later.moved_to:
            path = later.moved_to
            moved_by = later
        sha256 = later.after or found
    return Trail(path, sha256, tuple(spans), deleted_by, moved_by if path != entry.place else None)


def _within(line: int, shift: Shift) -> int:
    first, last, _ = shift
    return min(max(line - first, 0), last - first)


def _ties(
    entry: Entry, number: int, later: Entry, entries: Sequence[Entry], within: dict[int, list[list[int]]]
) -> Sequence[int | None]:
    """How many of the lines that ``later`` brings back stood above the entry's splice ``number``."""
    if later.reverts is None:
        return ()
    if later.reverts in within:
        return within[later.reverts][number]
    taken = next((one for one in entries if one.seq == later.reverts), None)
    if taken is None or taken.seq >= entry.seq:
        return ()
    spans = [(splice.start, splice.start + len(splice.old)) for splice in inverse(taken)]
    for between in entries:
        if taken.seq < between.seq < entry.seq and between.path == entry.path:
            spans = [carry(span, _shifts(between.splices)) for span in spans]
    first, last, _ = _shifts(entry.splices)[number]
    return [sys.maxsize if start <= first else 0 if start >= last else None for start, _ in spans]


def recorded_range(entry: Entry, entries: Sequence[Entry]) -> Span:
    """First line and one past the last of what ``entry`` put, from 1, after the later recorded changes."""
    path = entry.place
    start, end = new_range(entry.splices)
    span = (start - 1, end - 1)
    for later in entries:
        if later.seq > entry.seq and later.path == path:
            span = carry(span, _shifts(later.splices))
            path = later.place
    return span[0] + 1, span[1] + 1


def live_range(trail: Trail, now: bytes, sha256: str, contents: Contents) -> Span:
    """The lines a followed change covers in the file as it is ``now``, from 1."""
    spans = list(trail.spans)
    if sha256 != trail.sha256:
        spans = _through_diff(spans, contents(trail.sha256), now)
    if not spans:
        return 1, 1
    return min(span[0] for span in spans) + 1, max(span[1] for span in spans) + 1


def reverted(entry: Entry, trail: Trail, now: TextFile, contents: Contents) -> tuple[Splice, ...]:
    """The splices that take ``entry`` out of the file as it is ``now``. Raises FileError (``conflict``)."""
    spans = list(trail.spans)
    if now.sha256 != trail.sha256:
        spans = _through_diff(spans, contents(trail.sha256), now.encode(now.text))
    swaps = [_swap(now, span, splice) for span, splice in zip(spans, inverse(entry), strict=True)]
    whole = [swap for swap in swaps if swap is not None]
    if len(whole) == len(swaps) and all(
        one.start + len(one.old) <= other.start for one, other in pairwise(whole)
    ):
        return tuple(swap for swap in whole if swap.old != swap.new)
    return _merged(entry, now, contents)


def _swap(now: TextFile, span: Span, splice: Splice) -> Splice | None:
    """Put the old lines back where the new ones still stand, whatever ending the last of them has now."""
    start, end = span
    if list(now.lines[start:end]) != list(split("".join(splice.old))[0]) or end > len(now.lines):
        return None
    current = tuple(
        line + ending for line, ending in zip(now.lines[start:end], now.endings[start:end], strict=True)
    )
    put = list(splice.new)
    for ours, there in zip(splice.old, current, strict=True):
        if ours != there and ours is not splice.old[-1]:
            return None
    at_open_end = end == len(now.lines) and bool(now.endings) and not now.endings[-1]
    if at_open_end and start and not (current and put):
        return _at_open_end(now, start, current, put)
    if current == splice.old and end == len(now.lines) and _turns_end(splice):
        return Splice(start, current, splice.new)
    if put and (current or end < len(now.lines)):
        # The last line ends as a last line does here, or as one before others must.
        put[-1] = split(put[-1])[0][0] if at_open_end else _ended(put[-1], now)
    return Splice(start, current, tuple(put))


def _ended(line: str, now: TextFile) -> str:
    return line if split(line)[1][0] else line + (now.newline or "\n")


def _at_open_end(now: TextFile, start: int, current: tuple[str, ...], put: list[str]) -> Splice:
    """At the end of a file without a final newline: the line above gets one, or gives up its own."""
    last = now.lines[start - 1]
    if not put:
        return Splice(start - 1, (last + now.endings[start - 1], *current), (last,))
    put[-1] = split(put[-1])[0][0]
    return Splice(start - 1, (last,), (last + (now.newline or "\n"), *put))


def _merged(entry: Entry, now: TextFile, contents: Contents) -> tuple[Splice, ...]:
    if entry.before is None or entry.after is None:
        raise _conflict()
    base, before = decode(contents(entry.after), entry.place), decode(contents(entry.before), entry.path)
    merged = merge3(base.text, now.text, before.text)
    if merged.conflicts or merged.text == now.text:
        raise _conflict()
    old, new = whole_lines(now.text), whole_lines(merged.text)
    return tuple(
        Splice(
            change.start, tuple(old[change.start : change.end]), tuple(new[change.new_start : change.new_end])
        )
        for change in changes(old, new)
    )


def _conflict() -> FileError:
    return FileError(RefusalCode.CONFLICT, "its lines were changed since; nothing was touched")


def _through_diff(spans: Sequence[Span], before: bytes, after: bytes) -> list[Span]:
    old, new = whole_lines(decode(before, "the file").text), whole_lines(decode(after, "the file").text)
    shifts = [(change.start, change.end, change.new_end - change.new_start) for change in changes(old, new)]
    return [carry(span, shifts) for span in spans]


def _shifts(splices: Sequence[Splice]) -> list[Shift]:
    kernels = map(_kernel, splices)
    return [(kernel.start, kernel.start + len(kernel.old), len(kernel.new)) for kernel in kernels]


def _turns_end(splice: Splice) -> bool:
    """Does the splice, at the file's end, give it a final newline or take that away?"""
    old, new = splice.old, splice.new
    return bool(old and new) and (split(old[-1])[1][0] == "") != (split(new[-1])[1][0] == "")


def _kernel(splice: Splice) -> Splice:
    """The splice without the lines that only got, or lost, their ending: those before a new last line."""
    if _turns_end(splice):
        return splice
    start, old, new = splice.start, splice.old, splice.new
    while old and new and len(old) != len(new) and split(old[0])[0] == split(new[0])[0]:
        start, old, new = start + 1, old[1:], new[1:]
    return Splice(start, old, new)
