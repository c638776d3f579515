"""Where a past change stands now, and how to take it back: the arithmetic of undo.

A change's lines are carried forward through every later recorded change of its file, through moves,
and through a diff where someone else wrote in between. If the text there is still what the change
put, it is swapped back; else the three ways are merged; else it is a conflict and nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        found.append(Splice(splice.start + shift, splice.new, splice.old))
        shift += len(splice.new) - len(splice.old)
    return found


def carry(span: Span, shifts: Iterable[Shift]) -> Span:
    """``span`` after ``shifts`` (in order). One that cuts into the span widens it."""
    start, end = span
    before = inside = 0
    low, high = start, end
    for first, last, lines in shifts:
        if last <= start and not first == last == start == end:
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
    for later in entries:
        if later.seq <= entry.seq or later.path != path:
            continue
        found = later.before or later.after or ""
        if found != sha256:
            spans = _through_diff(spans, contents(sha256), contents(found))
        if later.before is not None and later.after is not None:
            spans = [carry(span, _shifts(later.splices)) for span in spans]
        deleted_by = later if later.after is None else None
        if later.moved_to:
            path = later.moved_to
            moved_by = later
        sha256 = later.after or found
    return Trail(path, sha256, tuple(spans), deleted_by, moved_by if path != entry.place else None)


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
        if ours != there and not (ours is splice.old[-1] and put):
            return None
    if current != splice.old and put:
        line, ending = split(put[-1])
        put[-1] = line[0] + (now.endings[end - 1] if not ending[0] or not now.endings[end - 1] else ending[0])
    return Splice(start, current, tuple(put))


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
    return [(splice.start, splice.start + len(splice.old), len(splice.new)) for splice in splices]
