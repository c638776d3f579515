"""The project's journal of hunks, which makes every landing atomic and every hunk undoable.

``hunks.jsonl`` is append-only. A change begins with an *intent* line, which is durable before the file is
touched; a second line says how it ended. An intent without a second line belongs to a process that died:
recovery compares the file's hash with the two of the intent. ``blobs/`` holds contents by hash, ``lock``
is held by the process that lands, and ``counter`` has the last id. Once a day the journal is rewritten
without the entries that :mod:`edits.ledger.retention` drops.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from edits.files.atomic import replacing
from edits.files.text import decode
from edits.hunk import Action, Rung, Status
from edits.ledger.blobs import Blobs
from edits.ledger.crash_recovery import settle
from edits.ledger.entry import Entry, Op, State, from_record, to_record
from edits.ledger.hunk_ids import HunkIds
from edits.ledger.retention import DAY, Retention
from edits.ledger.undo import recorded_range
from edits.placing.splices import spliced

_ID = re.compile(rb'"hunk":"h([0-9]{1,18})"')
# After this many changes of a file its whole content is kept again, so that a blob is never far.
_LONGEST_CHAIN = 32


@dataclass(frozen=True, slots=True)
class HunkRecord:
    """A hunk that landed in this project, as ``spark undo`` and the history see it."""

    id: str
    path: str
    """The path of the hunk's file after it landed."""
    action: Action
    state: Literal["landed", "undone"]
    session: str
    turn: str
    time: float
    status: Status
    rung: Rung
    start: int
    end: int
    """Its lines now, from 1, ``end`` one past the last: later recorded changes are taken into account."""
    moved_from: str | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """How a landing was settled whose process died. ``LOST`` should be shown to the user."""

    hunk: str
    path: str
    op: Op
    state: State


class Ledger:
    """The journal in ``folder``, shared by all processes of the project.

    Only one thread at a time may call it, except for the methods that say otherwise.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._journal = folder / "hunks.jsonl"
        self._inode = 0
        self._blobs = Blobs(folder / "blobs")
        self._read_to = 0
        self._entries: dict[int, Entry] = {}
        self._made_by: dict[str, int] = {}
        self._depth: dict[str, int] = {}
        self._open: set[int] = set()
        self._newest = 0
        self._ids = HunkIds(folder / "counter", self._last_id)

    def next_id(self) -> str:
        """A hunk id that no process of this project was or will be given. Any thread may call it.

        It is one of the reserved ids; the disk is used only if none is left. Raises OSError.
        """
        return self._ids.next()

    def reserve_ids(self) -> None:
        """Reserve ids for :meth:`next_id` if few are left; from now on each landing reserves more.

        Any thread but the event loop's may call it. Raises OSError.
        """
        self._ids.reserve()

    def top_up_ids(self) -> None:
        """Reserve more ids if this process reserves them and few are left."""
        self._ids.top_up()

    def give_ids_back(self) -> None:
        """Give back the reserved ids that were not needed, at the end of a session. Raises OSError."""
        self._ids.give_back()

    @contextmanager
    def exclusive(self) -> Iterator[list[Recovered]]:
        """Lock the journal for this process. What dead processes left open is settled first and returned."""
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._refresh()
            yield self._settle_open()
        finally:
            os.close(descriptor)

    def recover(self) -> list[Recovered]:
        """Settle what dead processes left open, and once a day drop what is too old."""
        with self.exclusive() as recovered:
            if self._is_due(time.time()):
                self._compact(Retention(), time.time())
            return recovered

    def compact(self, retention: Retention, now: float) -> None:
        """Rewrite the journal with only what ``retention`` keeps at the Unix time ``now``."""
        with self.exclusive():
            self._compact(retention, now)

    def entries(self) -> list[Entry]:
        """The changes that are done, oldest first."""
        self._refresh()
        return [entry for entry in self._entries.values() if entry.state is State.DONE]

    def hunks(self) -> list[HunkRecord]:
        """Every hunk that landed, oldest first, with its current state."""
        entries = self.entries()
        first: dict[str, Entry] = {}
        last: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.hunk, entry)
            last[entry.hunk] = entry
        records: list[HunkRecord] = []
        for hunk, entry in first.items():
            start, end = recorded_range(last[hunk], entries)
            records.append(
                HunkRecord(
                    id=hunk,
                    path=entry.place,
                    action=entry.action,
                    state="undone" if last[hunk].op is Op.UNDO else "landed",
                    session=entry.session,
                    turn=entry.turn,
                    time=entry.time,
                    status=entry.status,
                    rung=entry.rung,
                    start=start,
                    end=end,
                    moved_from=entry.path if entry.moved_to else None,
                )
            )
        return records

    def content(self, sha256: str) -> bytes:
        """A content before or after some entry. Raises FileError if the journal cannot give it."""
        steps: list[Entry] = []
        while not self._blobs.has(sha256) and sha256 in self._made_by:
            entry = self._entries[self._made_by[sha256]]
            steps.append(entry)
            if entry.before is None:
                break
            sha256 = entry.before
        data = b"" if steps and steps[-1].before is None else self._blobs.get(sha256)
        for entry in reversed(steps):
            file = decode(data, entry.path)
            data = file.encode(spliced(file, entry.splices))
        return data

    def keep(self, content: bytes) -> None:
        """Make ``content`` durable here, for a caller that is about to overwrite its only copy."""
        self._blobs.keep(content)

    def intend(self, entry: Entry, before: bytes | None) -> Entry:
        """Make a change's intent durable (under :meth:`exclusive`), and return it with its number.

        ``before`` is the file's current content. It is kept whole unless the journal can give it already.
        """
        known = entry.before is not None and self._depth.get(entry.before, _LONGEST_CHAIN) < _LONGEST_CHAIN
        if before is not None and (not known or entry.in_place or entry.after is None):
            self._depth[self._blobs.keep(before)] = 0
        entry = replace(entry, seq=self._newest + 1, state=State.OPEN)
        self._append(to_record(entry), durable=True)
        self._admit(entry)
        return entry

    def settle(self, entry: Entry, state: State) -> None:
        """Record how an intent ended. If the line is lost, recovery finds out by the file's hash."""
        self._append(_end(entry.seq, state), durable=False)
        self._entries[entry.seq] = replace(entry, state=state)
        self._open.discard(entry.seq)

    def _last_id(self) -> int:
        """The highest id in the journal, for a lost counter; read without any state, for any thread."""
        try:
            said = _ID.findall(self._journal.read_bytes())
        except FileNotFoundError:
            said = []
        return max(map(int, said), default=0)

    def _is_due(self, now: float) -> bool:
        try:
            return (self._folder / "compacted").stat().st_mtime < now - DAY
        except FileNotFoundError:
            # A new ledger has nothing to drop yet: its first day begins.
            (self._folder / "compacted").touch()
            return False

    def _compact(self, retention: Retention, now: float) -> None:
        """Replace the journal in one step, and then delete the contents that only the old one needed."""
        done = self.entries()

        def size(entry: Entry) -> int:
            return len(json.dumps(to_record(entry))) + self._blobs.size(entry.before or "")

        kept = retention.kept(done, size, now)
        if len(kept) < len(self._entries):
            entries = [entry for entry in done if entry.seq in kept]
            made: set[str] = set()
            for entry in entries:
                # A content that is built from dropped entries must be kept whole.
                if entry.before is not None and entry.before not in made:
                    self._blobs.keep(self.content(entry.before))
                made.add(entry.after or "")
            lines = b"".join(
                _line(to_record(entry)) + _line(_end(entry.seq, State.DONE)) for entry in entries
            )
            with replacing(self._journal) as file:
                file.write(lines)
            self._forget()
            self._refresh()
        wanted = {
            sha256 for entry in self._entries.values() for sha256 in (entry.before, entry.after) if sha256
        }
        self._blobs.sweep(wanted, now - DAY)
        (self._folder / "compacted").touch()

    def _forget(self) -> None:
        self._read_to = 0
        self._entries.clear()
        self._made_by.clear()
        self._depth.clear()
        self._open.clear()

    def _settle_open(self) -> list[Recovered]:
        recovered: list[Recovered] = []
        for seq in sorted(self._open):
            entry = self._entries[seq]
            state = settle(entry, self.content)
            self.settle(entry, state)
            recovered.append(Recovered(entry.hunk, entry.place, entry.op, state))
        return recovered

    def _admit(self, entry: Entry) -> None:
        self._entries[entry.seq] = entry
        self._newest = max(self._newest, entry.seq)
        if entry.state is State.OPEN:
            self._open.add(entry.seq)
        if entry.after is not None and entry.after not in self._made_by and entry.splices:
            self._made_by[entry.after] = entry.seq
            self._depth.setdefault(entry.after, self._depth.get(entry.before or "", 0) + 1)

    def _refresh(self) -> None:
        """Read what any process has appended since; a torn or unknown line is skipped."""
        try:
            with self._journal.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode != self._inode:
                    # Another process rewrote the journal.
                    self._forget()
                    self._inode = inode
                file.seek(self._read_to)
                data = file.read()
        except FileNotFoundError:
            return
        end = data.rfind(b"\n") + 1
        self._read_to += end
        for line in data[:end].splitlines():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                continue

    def _take(self, record: Any) -> None:
        if not isinstance(record, dict):
            raise TypeError("the line is not a record")
        if record.get("kind") == "intent":
            entry = from_record(record)
            if entry.before is not None and self._blobs.has(entry.before):
                self._depth[entry.before] = 0
            self._admit(entry)
        elif record.get("kind") == "end":
            seq = int(record["seq"])
            self._entries[seq] = replace(self._entries[seq], state=State(record["state"]))
            self._open.discard(seq)

    def _append(self, record: dict[str, Any], *, durable: bool) -> None:
        line = _line(record)
        with self._journal.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size > self._read_to:
                # A process died while it wrote a line: end that line first.
                line = b"\n" + line
            file.write(line)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            self._read_to = size + len(line)


def _end(seq: int, state: State) -> dict[str, Any]:
    return {"kind": "end", "seq": seq, "state": state}


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
