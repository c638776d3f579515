"""Plans the change that undoes or redoes a hunk in the project as it is now."""

from __future__ import annotations

from dataclasses import dataclass

from edits.files.text import FileError, decode, digest, whole_lines
from edits.files.tree import Tree
from edits.hunk import RefusalCode, Refused
from edits.ledger.entry import Entry, Op
from edits.ledger.ledger import Ledger
from edits.ledger.undo import follow, reverted
from edits.placing.splices import Splice, spliced


@dataclass(frozen=True, slots=True)
class Reversal:
    """A planned undo or redo. ``entry`` is the recorded change that it reverses."""

    entry: Entry
    path: str
    before: bytes | None
    after: bytes | None
    splices: tuple[Splice, ...] = ()
    moved_to: str | None = None
    mode: int | None = None
    emptied: tuple[str, ...] = ()
    """Folders that were made for the file and are removed with it if nothing else is in them."""


def plan_reversal(tree: Tree, ledger: Ledger, hunk_id: str | None, op: Op) -> Reversal | Refused:
    """Plan to undo or redo a hunk, or with None the last one that can be."""
    entries = ledger.entries()
    found = _last_change(entries, hunk_id, op)
    if isinstance(found, Refused):
        return found
    try:
        return _plan(tree, ledger, entries, found)
    except FileError as error:
        return Refused(found.hunk, found.place, error.code, error.message)


def _last_change(entries: list[Entry], hunk_id: str | None, op: Op) -> Entry | Refused:
    last: dict[str, Entry] = {}
    for entry in entries:
        last[entry.hunk] = entry
    fitting = [entry for entry in last.values() if (entry.op is Op.UNDO) == (op is Op.REDO)]
    verb = "undo" if op is Op.UNDO else "redo"
    if hunk_id is None:
        if not fitting:
            return Refused("", "", RefusalCode.NO_MATCH, f"there is no hunk to {verb} in this project")
        return max(fitting, key=lambda entry: entry.seq)
    if hunk_id not in last:
        return Refused(hunk_id, "", RefusalCode.NO_MATCH, f"this project has no hunk {hunk_id} that landed")
    if last[hunk_id] not in fitting:
        state = "undone already" if op is Op.UNDO else "not undone"
        return Refused(hunk_id, last[hunk_id].place, RefusalCode.CONFLICT, f"hunk {hunk_id} is {state}")
    return last[hunk_id]


def _plan(tree: Tree, ledger: Ledger, entries: list[Entry], entry: Entry) -> Reversal:
    ledger.check(entry)
    trail = follow(entry, entries, ledger.content)
    now = tree.read_if_there(trail.path)
    if entry.after is None:
        return _bring_back(ledger, entry, now)
    if trail.deleted_by is not None and now is None:
        other = trail.deleted_by.hunk
        raise FileError(RefusalCode.CONFLICT, f"{trail.path} was deleted by {other}: undo {other} first")
    if now is None:
        raise FileError(RefusalCode.CONFLICT, f"{trail.path} is gone")
    if entry.before is None:
        status = tree.status(trail.path)
        mode = None if status is None else status.st_mode & 0o7777
        return _take_away(entry, entries, trail.path, now, mode)
    file = decode(now, trail.path)
    made = reverted(entry, trail, file, ledger.content)
    after = file.encode(spliced(file, made))
    if digest(now) == entry.after and digest(after) != entry.before:
        # Without the hunk's characters the file looks like another encoding, but its old bytes are known.
        after = ledger.content(entry.before)
    if not entry.moved_to:
        return Reversal(entry, trail.path, now, after, made)
    if trail.moved_by is not None:
        other = trail.moved_by.hunk
        raise FileError(RefusalCode.CONFLICT, f"the file was moved again by {other}: undo {other} first")
    if tree.status(entry.path) is not None:
        raise FileError(RefusalCode.CONFLICT, f"{entry.path} exists again: the move cannot be undone")
    return Reversal(entry, trail.path, now, after, made, moved_to=entry.path, emptied=entry.made)


def _bring_back(ledger: Ledger, entry: Entry, now: bytes | None) -> Reversal:
    if now is not None:
        raise FileError(RefusalCode.CONFLICT, f"{entry.path} exists again: it is not overwritten")
    data = ledger.content(entry.before or "")
    return Reversal(entry, entry.path, None, data, _whole(data, entry.path), mode=entry.mode)


def _take_away(entry: Entry, entries: list[Entry], path: str, now: bytes, mode: int | None) -> Reversal:
    if digest(now) != entry.after or path != entry.place:
        since = [later.hunk for later in entries if later.seq > entry.seq and later.path == path]
        first = f" (by {', '.join(dict.fromkeys(since))})" if since else ""
        raise FileError(
            RefusalCode.CONFLICT, f"{path} was changed since it was added{first}; it is not deleted"
        )
    return Reversal(entry, path, now, None, mode=mode, emptied=entry.made)


def _whole(data: bytes, path: str) -> tuple[Splice, ...]:
    """A file's text as one splice; none for a binary file, which its blob restores."""
    try:
        return (Splice(0, (), tuple(whole_lines(decode(data, path).text))),)
    except FileError:
        return ()
