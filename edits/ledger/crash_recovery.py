"""Settles a change whose process died, by the hash of its file and never by its time.

If the file is in the state after the change, the change is done; in the state before, it is dropped. In
neither state, someone else wrote the file since, and it is left alone. What a kill can leave half done (a
move whose source still exists, a file that is overwritten up to some byte) is brought to one of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from edits.files.read_write import Changed, fingerprint, read_bytes, remove, temporary_path, write_atomic
from edits.files.text import FileError
from edits.ledger.entry import Entry, State

Contents = Callable[[str], bytes]


def settle(entry: Entry, contents: Contents) -> State:
    """Bring the file of an open intent to the state before or after. ``contents`` gives bytes by hash."""
    root = Path(entry.root)
    target = root / entry.place
    temporary_path(target, entry.token).unlink(missing_ok=True)
    try:
        state = _moved(entry, root) if entry.moved_to else _unmoved(entry, target, contents)
    except (FileError, Changed):
        state = State.LOST
    if state is State.DROPPED:
        remove_folders(root, entry.made)
    return state


def remove_folders(root: Path, folders: tuple[str, ...]) -> None:
    """Remove the folders that were made for a file, unless something else is in them."""
    for folder in reversed(folders):
        try:
            (root / folder).rmdir()
        except OSError:
            return


def _unmoved(entry: Entry, target: Path, contents: Contents) -> State:
    now = fingerprint(target)
    if now == entry.after:
        return State.DONE
    if now == entry.before:
        return State.DROPPED
    if entry.in_place and entry.before is not None and entry.after is not None and now is not None:
        before = contents(entry.before)
        if _is_mix(read_bytes(target), before, entry, contents):
            write_atomic(target, before, expected=now, in_place=True)
            return State.DROPPED
    return State.LOST


def _moved(entry: Entry, root: Path) -> State:
    source, target = root / entry.path, root / entry.place
    there, here = fingerprint(target), fingerprint(source)
    if there == entry.after and entry.after is not None:
        if here is None:
            return State.DONE
        if here == entry.before:
            remove(source, here)
            return State.DONE
    elif there is None and here == entry.before:
        return State.DROPPED
    return State.LOST


def _is_mix(now: bytes, before: bytes, entry: Entry, contents: Contents) -> bool:
    """Whether ``now`` is new up to some byte and old from there, as an overwrite leaves it when killed."""
    after = contents(entry.after or "")
    pairs = zip(now, after, strict=False)
    shorter = min(len(now), len(after))
    written = next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
    return now[written:] == before[written:]
