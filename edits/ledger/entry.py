"""The ledger's record of one change of one file, its form as a line of JSON, and how long it is kept.

When the journal is compacted, the last sessions are kept, whatever their age and size. Of the others, those
that ended too long ago are dropped, and while the journal is still too large, the oldest of the rest. A hunk
is kept or dropped with its undos. Each edit of ``spark apply`` outside any session counts as a session.

Clocks are wrong now and then. So the order is that of the journal, an entry is never older than one before
it, and none is older than what the newest entry says: a clock far ahead makes nothing old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from edits.files.text import whole_lines
from edits.hunk import Action, Rung, Status
from edits.placing.splices import Splice


class Op(StrEnum):
    """Why a file changed: a hunk landed, was undone, or was redone."""

    LAND = "land"
    UNDO = "undo"
    REDO = "redo"


class State(StrEnum):
    """How an intent ended. ``LOST`` means that the file is in neither state: someone else wrote it."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Entry:
    """One intended change, durable before the file is touched.

    ``before`` and ``after`` are digests, None where there is no file. ``splices`` turn one text into the
    other; with the blob of the first ``before`` they give every later content.
    """

    seq: int
    hunk: str
    op: Op
    action: Action
    root: str
    path: str
    moved_to: str | None
    before: str | None
    after: str | None
    splices: tuple[Splice, ...] = ()
    reverts: int | None = None
    """The ``seq`` of the entry that an undo or redo reverses."""
    in_place: bool = False
    mode: int | None = None
    """The permission bits of a file that the change deletes, for restoring it."""
    made: tuple[str, ...] = ()
    """Folders that were made for the file, outermost first, relative to the root."""
    session: str = ""
    turn: str = ""
    time: float = 0.0
    status: Status = Status.APPLIED
    rung: Rung = Rung.EXACT
    token: str = ""
    """The part of the temporary file's name that nobody can guess."""
    same: str = ""
    """The digest of the hunk's own text, to recognize one that is sent twice."""
    state: State = State.OPEN

    @property
    def place(self) -> str:
        """The path of the file after the change."""
        return self.moved_to or self.path


def to_record(entry: Entry) -> dict[str, Any]:
    """The entry as JSON values, without ``state``, which later lines of the journal give."""
    record: dict[str, Any] = {"kind": "intent"}
    for item in fields(entry):
        value = getattr(entry, item.name)
        if item.name == "splices":
            value = [[splice.start, "".join(splice.old), "".join(splice.new)] for splice in value]
        if item.name != "state" and value not in (None, (), ""):
            record[item.name] = value
    return record


def from_record(record: dict[str, Any]) -> Entry:
    """The entry of a journal line. Raises KeyError, TypeError or ValueError if it is not one."""
    return Entry(
        seq=int(record["seq"]),
        hunk=_name(record["hunk"]),
        op=Op(record["op"]),
        action=Action(record["action"]),
        root=_name(record["root"]),
        path=_name(record["path"]),
        moved_to=_name(record["moved_to"]) if record.get("moved_to") is not None else None,
        before=_digest(record.get("before")),
        after=_digest(record.get("after")),
        splices=tuple(
            Splice(int(start), tuple(whole_lines(old)), tuple(whole_lines(new)))
            for start, old, new in record.get("splices", ())
        ),
        reverts=_whole(record.get("reverts")),
        in_place=bool(record.get("in_place", False)),
        mode=_whole(record.get("mode")),
        made=tuple(map(_name, record.get("made", ()))),
        session=str(record.get("session", "")),
        turn=str(record.get("turn", "")),
        time=float(record.get("time", 0.0)),
        status=Status(record.get("status", Status.APPLIED)),
        rung=Rung(record.get("rung", Rung.EXACT)),
        token=_token(record.get("token", "")),
        same=str(record.get("same", "")),
    )


def _name(value: Any) -> str:
    """A name or path that is valid on the system."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise TypeError(f"{value!r} is not a name")
    return value


def _token(value: Any) -> str:
    """A part of a file's name. It is used to delete that file, so only letters and digits are allowed."""
    if not isinstance(value, str) or not (value.isalnum() or not value):
        raise ValueError(f"{value!r} is not a token")
    return value


def _digest(value: Any) -> str | None:
    """A content's digest. It becomes a path, so only letters and digits are allowed."""
    if value is not None and not (isinstance(value, str) and len(value) > 2 and value.isalnum()):
        raise ValueError(f"{value!r} is not a digest")
    return value


def _whole(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise TypeError(f"{value!r} is not an integer")
    return value


DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits ``days`` and ``bytes`` apply beyond the last ``sessions``."""

    sessions: int = 20
    days: float = 90
    bytes: int = 256 * 1024 * 1024

    def kept(self, entries: Iterable[Entry], size: Callable[[Entry], int], now: float) -> set[int]:
        """The numbers of the entries to keep. ``size`` gives the bytes of one, ``now`` is a Unix time."""
        owner: dict[str, str] = {}
        groups: dict[str, list[Entry]] = {}
        ended: dict[str, float] = {}
        latest = 0.0
        for entry in entries:
            name = owner.setdefault(entry.hunk, entry.session or entry.hunk)
            group = groups[name] = groups.pop(name, [])  # the last to end is last
            group.append(entry)
            ended[name] = latest = max(latest, entry.time)
        oldest = min(now, latest) - self.days * DAY
        kept: set[int] = set()
        total = 0
        for place, (name, group) in enumerate(reversed(groups.items())):
            total += sum(map(size, group))
            old = ended[name] < oldest
            if place >= self.sessions and (old or total > self.bytes):
                break
            kept.update(entry.seq for entry in group)
        return kept
