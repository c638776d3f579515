"""What hunks changed, as a patch or as counts: ``spark diff`` and ``/diff``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.git_patch import ChangedFile, Changes, changed_files, counts, git_patch
from edits.ledger.ledger import HunkRecord, Ledger
from session.base.text.sanitize import clean, clean_line


class DiffError(Exception):
    """There is no such hunk, turn or session; the message says which there are."""


@dataclass(frozen=True, slots=True)
class Which:
    """The hunks that are meant: those named, or the last so many, else those of a session (the one that
    landed a hunk last, without a name), of all its turns or of one."""

    session: str | None = None
    turn: int | None = None
    last: int | None = None
    hunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """What the hunks changed, the counts of it line by line, and lines on what could not be shown exactly."""

    patch: bytes
    stat: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it as text for a screen."""
        patch = clean(self.patch.decode("utf-8", "replace")).rstrip("\n")
        return "\n".join((*self.notes, patch or "those hunks change nothing now"))


def diff(ledger: Ledger, which: Which) -> Diff:
    """What the hunks ``which`` changed, without those undone since. Raises DiffError, and OSError where the
    ledger cannot be read."""
    records = ledger.hunks()
    hunks = [record.id for record in _chosen(records, which)]
    found = changed_files(ledger.entries(), frozenset(hunks), ledger.content)
    return Diff(git_patch(found.files), tuple(_stat(found.files)), tuple(_notes(found)))


def _chosen(records: Sequence[HunkRecord], which: Which) -> list[HunkRecord]:
    if not records:
        raise DiffError("no hunk has landed in this project yet")
    if which.hunks:
        known = {record.id for record in records}
        if missing := [hunk for hunk in which.hunks if hunk not in known]:
            raise DiffError(f"there is no hunk {clean_line(missing[0])}; the last is {records[-1].id}")
        return [record for record in records if record.id in which.hunks]
    session = _session(records, which.session)
    own = [record for record in records if record.session == session]
    if which.last is not None:
        landed = [record for record in (own if which.session else records) if record.state == "landed"]
        return landed[-which.last :] if which.last > 0 else []
    if which.turn is None:
        return own
    turns = list(dict.fromkeys(record.turn for record in own))
    if f"t{which.turn}" not in turns:
        there = ", ".join(turn.removeprefix("t") for turn in turns if turn)
        raise DiffError(f"turn {which.turn} landed no hunk; these did: {there or 'none'}")
    return [record for record in own if record.turn == f"t{which.turn}"]


def _session(records: Sequence[HunkRecord], name: str | None) -> str:
    if name is None:
        return records[-1].session
    sessions = [each for each in dict.fromkeys(record.session for record in records) if each]
    fit = [each for each in sessions if each == name] or [each for each in sessions if each.startswith(name)]
    if len(fit) == 1:
        return fit[0]
    if fit:
        raise DiffError(f"several sessions begin with {clean_line(name)}: {', '.join(fit)}; type more of it")
    there = ", ".join(reversed(sessions[-3:])) or "none"
    raise DiffError(f"session {clean_line(name)} landed no hunk; the last that did: {there}")


def _stat(files: Sequence[ChangedFile]) -> list[str]:
    lines: list[str] = []
    total = [0, 0]
    for file in files:
        name = clean_line(file.path)
        if file.old_path != file.path:
            name = f"{clean_line(file.old_path)} => {name}"
        size = counts(file)
        told = "binary" if size is None else f"+{size[0]} -{size[1]}"
        kind = " (new)" if file.before is None else " (deleted)" if file.after is None else ""
        lines.append(f" {name}{kind}  {told}")
        total = [total[0] + (size[0] if size else 0), total[1] + (size[1] if size else 0)]
    if files:
        many = "s" if len(files) > 1 else ""
        lines.append(f" {len(files)} file{many} changed  +{total[0]} -{total[1]}")
    return lines


def _notes(found: Changes) -> list[str]:
    told = "others changed the same lines in between: their changes are in the patch"
    lost = "its contents are no longer in the ledger: it is left out"
    return [
        *(f"{clean_line(file.path)}: {told}" for file in found.files if file.inexact),
        *(f"{clean_line(path)}: {lost}" for path in found.lost),
    ]


def parsed(argument: str) -> Which:
    """What ``/diff ARGUMENT`` is about: ``turn 2``, ``session``, a number of hunks, or hunks by name. Raises
    DiffError."""
    words = argument.split()
    match words:
        case ["session"]:
            return Which()
        case ["turn", number] if number.removeprefix("t").isdecimal():
            return Which(turn=int(number.removeprefix("t")[:9]))
        case [number] if number.isdecimal():
            return Which(last=int(number[:9]))
        case [_, *_] if all(word.startswith("h") and word[1:].isdecimal() for word in words):
            return Which(hunks=tuple(words))
        case _:
            raise DiffError("/diff takes turn N, session, a number or hunks (h3 h4); alone: the last turn")
