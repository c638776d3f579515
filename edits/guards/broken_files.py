"""Finds the files that a turn's hunks left with a syntax error.

A refactoring in several hunks goes through states that do not parse, so no hunk is judged when it lands. A
file is judged once its last hunk of the turn is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.files.text import FileError, decode
from edits.files.tree import Tree
from edits.ledger.entry import Entry, Op
from edits.ledger.ledger import Ledger
from edits.placing.place import Checker

MOST_CHECKED = 50
"""States of a file that are checked to find the hunks which broke it; with more changes, all count."""


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that parsed before the turn, or was not there, and does not parse now. ``hunks`` are the landed
    ones since it last parsed, the oldest first."""

    path: str
    message: str
    hunks: tuple[str, ...]


def broken_files(tree: Tree, ledger: Ledger, session: str, turn: str, checker: Checker) -> list[BrokenFile]:
    """The files that the hunks of a turn broke. Call it under the ledger's lock, or with its only writer."""
    entries = ledger.entries()
    landed = {record.id for record in ledger.hunks() if record.state == "landed"}
    files: dict[str, list[Entry]] = {}
    for entry in entries:
        if (entry.session, entry.turn) == (session, turn):
            files.setdefault(entry.place, []).extend(
                [*files.pop(entry.path, []), entry] if entry.moved_to else [entry]
            )
    found = [_judged(tree, ledger, path, changes, landed, checker) for path, changes in files.items()]
    return [broken for broken in found if broken is not None]


def _judged(
    tree: Tree, ledger: Ledger, path: str, changes: Sequence[Entry], landed: set[str], checker: Checker
) -> BrokenFile | None:
    try:
        now = tree.read_if_there(path)
        if now is None or (wrong := checker(path, decode(now, path).text)) is None:
            return None
        first = changes[0].before
        if first is not None and checker(path, decode(ledger.content(first), path).text):
            return None  # it did not parse before, and may take several turns to be mended
        since = _since_sound(ledger, path, changes, checker)
    except FileError:
        return None  # it is no text now, or the ledger does not have it any more
    hunks = [entry.hunk for entry in since if entry.op is not Op.UNDO and entry.hunk in landed]
    return BrokenFile(path, wrong, tuple(dict.fromkeys(hunks)))


def _since_sound(ledger: Ledger, path: str, changes: Sequence[Entry], checker: Checker) -> Sequence[Entry]:
    """The changes since the last state that parsed."""
    for back in range(1, min(len(changes), MOST_CHECKED)):
        before = changes[-back].before
        if before is not None and not checker(path, decode(ledger.content(before), path).text):
            return changes[-back:]
    return changes
