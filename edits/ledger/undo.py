"""Follows the lines of a past change to the present, and reverses it there.

The lines are followed through every later recorded change of the file, through moves, and through a diff
where someone else wrote in between. If they are still as the change left them, the old lines replace
them. Otherwise the change is merged out, or there is a conflict and nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from edits.files.diff import changes
from edits.files.merge import merge3
from edits.files.text import FileError, TextFile, decode, split, whole_lines
from edits.hunk import RefusalCode
from edits.ledger.entry import Entry, Op
from edits.ledger.lineage import Lineage
from edits.placing.splices import Splice, new_range

Contents = Callable[[str], bytes]
Span = tuple[int, int]
"""Lines, from 0, the end one past the last."""
Shift = tuple[int, int, int]
"""Lines ``start`` to ``end`` became so many lines."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where the file of a change is now, and the history of its lines since."""

    path: str
    sha256: str
    """The digest of the newest recorded content, at which ``lineage`` ends."""
    lineage: Lineage
    deleted_by: Entry | None
    moved_by: Entry | None


def carry(span: Span, shifts: Sequence[Shift]) -> Span:
    """``span`` after ``shifts``, which are in order. A shift that overlaps the span widens it."""
    start, end = span
    before = inside = 0
    low, high = start, end
    for first, last, lines in shifts:
        if first == last == start == end:
            continue
        if last <= start:
            before += lines - (last - first)
        elif first >= end:
            break
        else:
            low, high = min(low, first), max(high, last)
            inside += lines - (last - first)
    return low + before, high + before + inside


def follow(entry: Entry, entries: Sequence[Entry], contents: Contents) -> Trail:
    """Follow the file of ``entry`` and its lines through the later ``entries``."""
    lineage = Lineage()
    chain = _chain(entry, entries)
    path, sha256 = chain[0].path, chain[0].before or chain[0].after or ""
    deleted_by = moved_by = None
    for one in [*chain, *(later for later in entries if later.seq > entry.seq)]:
        if one.path != path:
            continue
        found = one.before or one.after or ""
        if found != sha256:
            _written(lineage, entry.path, contents(sha256), contents(found))
        # Of a file that was added, all lines are those of the change.
        if one.after is not None and (one.before is not None or one is entry):
            kernels = [_kernel(splice) for splice in one.splices]
            made = [(kernel.start, kernel.old, kernel.new) for kernel in kernels]
            lineage.change(one.hunk, one.op is not Op.UNDO, made)
        deleted_by = one if one.after is None and one.seq > entry.seq else None
        if one.moved_to:
            path = one.moved_to
            moved_by = one
        sha256 = one.after or found
    return Trail(path, sha256, lineage, deleted_by, moved_by if path != entry.place else None)


def _chain(entry: Entry, entries: Sequence[Entry]) -> list[Entry]:
    """The changes of the file up to ``entry``, from the first one whose lines may have come back since."""
    first, start = entry.seq + 1, min(one.seq for one in entries if one.hunk == entry.hunk)
    while start < first:
        first = start
        returned = {one.hunk for one in entries if one.seq > first and one.reverts is not None}
        start = min(one.seq for one in entries if one.seq == first or one.hunk in returned)
    chain = [entry]
    for one in reversed(entries):
        if first <= one.seq < entry.seq and one.place == chain[-1].path:
            chain.append(one)
    return chain[::-1]


def recorded_range(entry: Entry, entries: Sequence[Entry]) -> Span:
    """The first line, from 1, and one past the last of the new text of ``entry`` after later changes."""
    path = entry.place
    start, end = new_range(entry.splices)
    span = (start - 1, end - 1)
    for later in entries:
        if later.seq > entry.seq and later.path == path:
            span = carry(span, _shifts(later.splices))
            path = later.place
    return span[0] + 1, span[1] + 1


def live_range(entry: Entry, trail: Trail, now: bytes, sha256: str, contents: Contents) -> Span:
    """The lines of a followed change in the file as it is ``now``, from 1."""
    if sha256 != trail.sha256:
        _written(trail.lineage, trail.path, contents(trail.sha256), now)
    start, end = trail.lineage.extent(entry.hunk)
    return start + 1, end + 1


def reverted(entry: Entry, trail: Trail, now: TextFile, contents: Contents) -> tuple[Splice, ...]:
    """The splices that reverse ``entry`` in the file as it is ``now``. Raises FileError (``conflict``)."""
    if not entry.splices:
        return ()
    if now.sha256 != trail.sha256:
        _written(trail.lineage, trail.path, contents(trail.sha256), now.encode(now.text))
    other = trail.lineage.taken_by(entry.hunk)
    if other is not None:
        message = f"its lines were changed by {other} since: undo {other} first; nothing was touched"
        raise FileError(RefusalCode.CONFLICT, message)
    sites = trail.lineage.sites(entry.hunk, entry.op is Op.UNDO)
    swaps = [_swap(now, Splice(*site)) for site in sites or ()]
    whole = [swap for swap in swaps if swap is not None]
    if whole and len(whole) == len(swaps) and _apart(whole):
        return tuple(swap for swap in whole if swap.old != swap.new)
    return _merged(entry, now, contents)


def _apart(swaps: Sequence[Splice]) -> bool:
    return all(one.start + len(one.old) <= other.start for one, other in pairwise(swaps))


def _swap(now: TextFile, splice: Splice) -> Splice | None:
    """Put the old lines back where the new ones still are, whatever ending the last one has now."""
    start, end = splice.start, splice.start + len(splice.old)
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
        # The last line of the file has no ending if it had none; any other line must have one.
        put[-1] = split(put[-1])[0][0] if at_open_end else _ended(put[-1], now)
    return Splice(start, current, tuple(put))


def _ended(line: str, now: TextFile) -> str:
    return line if split(line)[1][0] else line + (now.newline or "\n")


def _at_open_end(now: TextFile, start: int, current: tuple[str, ...], put: list[str]) -> Splice:
    """At the end of a file without a final newline, the line above gets a newline or loses its own."""
    last = now.lines[start - 1]
    if not put:
        return Splice(start - 1, (last + now.endings[start - 1], *current), (last,))
    put[-1] = split(put[-1])[0][0]
    return Splice(start - 1, (last,), (last + (now.newline or "\n"), *put))


def _merged(entry: Entry, now: TextFile, contents: Contents) -> tuple[Splice, ...]:
    if entry.before is None or entry.after is None:
        raise _conflict()
    base, before = decode(contents(entry.after), entry.place), decode(contents(entry.before), entry.path)
    merged = merge3(base.text, now.text, before.text, apart=True)
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


def _written(lineage: Lineage, path: str, before: bytes, after: bytes) -> None:
    """Record that someone else changed the content from ``before`` to ``after``."""
    old, new = (whole_lines(decode(data, path).text) for data in (before, after))
    made = [
        (change.start, old[change.start : change.end], new[change.new_start : change.new_end])
        for change in changes(old, new)
    ]
    lineage.change(None, True, made)


def _shifts(splices: Sequence[Splice]) -> list[Shift]:
    kernels = map(_kernel, splices)
    return [(kernel.start, kernel.start + len(kernel.old), len(kernel.new)) for kernel in kernels]


def _turns_end(splice: Splice) -> bool:
    """Whether the splice, at the end of the file, adds or removes the final newline."""
    old, new = splice.old, splice.new
    return bool(old and new) and (split(old[-1])[1][0] == "") != (split(new[-1])[1][0] == "")


def _kernel(splice: Splice) -> Splice:
    """The splice without lines whose ending alone changed, which are those before a new last line."""
    if _turns_end(splice):
        return splice
    start, old, new = splice.start, splice.old, splice.new
    while old and new and len(old) != len(new) and split(old[0])[0] == split(new[0])[0]:
        start, old, new = start + 1, old[1:], new[1:]
    return Splice(start, old, new)
