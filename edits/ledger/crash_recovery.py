"""Settles a change whose process died, by the hash of its file and never by its time.

If the file is in the state after the change, the change is done; in the state before, it is dropped. In
neither state, someone else wrote the file since, and it is left alone. What a kill can leave half done (a
move whose source still exists, a file that is overwritten up to some byte) is brought to one of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from edits.files.text import FileError
from edits.files.tree import Tree
from edits.ledger.entry import Entry, State

Contents = Callable[[str], bytes]


def settle(entry: Entry, contents: Contents) -> State:
    """Bring the file of an open intent to the state before or after. ``contents`` gives bytes by hash.

    ``LOST`` if that is not possible, for whatever reason: one file never keeps the others from landing.
    """
    tree = Tree(Path(entry.root))
    try:
        _discard_temporary(tree, entry, contents)
        state = _moved(entry, tree) if entry.moved_to else _unmoved(entry, tree, contents)
    except FileError:
        state = State.LOST
    if state is State.DROPPED:
        tree.remove_folders(entry.made)
    return state


def _discard_temporary(tree: Tree, entry: Entry, contents: Contents) -> None:
    if not entry.token:
        return  # An old version of spark gave names that the project's own files can have.
    try:
        if entry.moved_to or entry.after is None:
            tree.put_back(entry.path, entry.token, entry.before, None)
        if entry.after is not None and not entry.moved_to and entry.before is not None:
            tree.put_back(entry.place, entry.token, entry.before, contents(entry.after))
    except FileError:
        pass  # Its folder is gone or has become something else, or the ledger's copy is damaged.
    try:
        tree.discard_temporary(entry.place, entry.token)
    except FileError:
        return  # Its folder is gone, or has become something else; the file tells how the change ended.


def _unmoved(entry: Entry, tree: Tree, contents: Contents) -> State:
    now = tree.fingerprint(entry.place)
    if now == entry.after:
        return State.DONE
    if now == entry.before:
        return State.DROPPED
    if entry.in_place and entry.before is not None and entry.after is not None and now is not None:
        before = contents(entry.before)
        if _is_mix(tree.read(entry.place), before, contents(entry.after)):
            tree.write(entry.place, before, expected=now, in_place=True)
            return State.DROPPED
    return State.LOST


def _moved(entry: Entry, tree: Tree) -> State:
    there, here = tree.fingerprint(entry.place), tree.fingerprint(entry.path)
    if there == entry.after and entry.after is not None:
        if here is None:
            return State.DONE
        if here == entry.before:
            return _finished(entry, tree, here)
    elif there is None and here == entry.before:
        return State.DROPPED
    return State.LOST


def _finished(entry: Entry, tree: Tree, here: str) -> State:
    """Delete the source of a move whose copy is made; if that fails, delete the copy instead."""
    try:
        tree.remove(entry.path, here)
    except FileError:
        tree.remove(entry.place, entry.after or "")
        return State.DROPPED
    return State.DONE


def _is_mix(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether ``now`` is new up to some byte and old from there, as an overwrite leaves it when killed."""
    pairs = zip(now, after, strict=False)
    shorter = min(len(now), len(after))
    written = next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
    return now[written:] == before[written:]
