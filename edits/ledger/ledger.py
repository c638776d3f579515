"""The project's journal of hunks, which makes every landing atomic and every hunk undoable.

``hunks.jsonl`` is append-only, and each of its lines has a checksum. A change begins with an *intent* line,
which is durable before the file is touched; a second line says how it ended. An intent without a second line
belongs to a process that died: recovery compares the file's hash with the two of the intent. ``blobs/`` holds
contents by hash, ``lock`` is held by the process that lands, and ``counter`` has the last id. Once a day the
journal is rewritten without the entries that :mod:`edits.ledger.entry` drops. Damaged lines never stop
the rest: they are set aside in ``damaged.jsonl``.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from edits.checked_lines import to_line
from edits.files.durable import Step, no_step
from edits.files.replacing import make_folder
from edits.files.text import FileError, decode, digest, whole_lines
from edits.hunk import Action, RefusalCode, Rung, Status
from edits.ledger.blobs import Blobs
from edits.ledger.crash_recovery import settle
from edits.ledger.entry import DAY, Entry, Op, Retention, State, from_record, to_record
from edits.ledger.hunk_ids import HunkIds
from edits.ledger.journal_file import JournalFile
from edits.ledger.shared_lock import LONGEST, LockWait
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
    moved_from: str | None
    last: Entry = field(repr=False, compare=False)
    """Its last change."""
    entries: Sequence[Entry] = field(repr=False, compare=False)
    """The ledger's, when it was asked."""

    @property
    def start(self) -> int:
        """Its first line, from 1: later recorded changes are taken into account."""
        return recorded_range(self.last, self.entries)[0]

    @property
    def end(self) -> int:
        """One past its last line."""
        return recorded_range(self.last, self.entries)[1]


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

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        """``step`` is called after each step of a write. Raises OSError if the folder cannot be made."""
        self._folder = folder
        make_folder(folder)
        self._journal = folder / "hunks.jsonl"
        self._file = JournalFile(self._journal, step)
        self._step = step
        self._blobs = Blobs(folder / "blobs")
        self.set_aside = 0
        """The number of damaged records that :meth:`recover` has set aside in this process."""
        self._entries: dict[int, Entry] = {}
        self._made_by: dict[str, int] = {}
        self._depth: dict[str, int] = {}
        self._open: set[int] = set()
        self._newest = 0
        self.wait = LockWait()
        """How this process waits for the others."""
        self._ids = HunkIds(folder / "counter", self._last_id, self.wait)

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
    def exclusive(self, longest: float = LONGEST) -> Iterator[list[Recovered]]:
        """Lock the journal for this process. What dead processes left open is settled first and returned.

        Raises LockHeldError where another process keeps the lock for ``longest`` seconds.
        """
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self.wait.acquire(descriptor, "the project's ledger", longest)
            self._refresh()
            yield self._settle_open()
        finally:
            os.close(descriptor)

    def recover(self, longest: float = LONGEST) -> list[Recovered]:
        """Settle what dead processes left open, set aside what is damaged, bring a journal of an old version
        up to date, and once a day drop what is too old. Raises LockHeldError as :meth:`exclusive` does."""
        with self.exclusive(longest) as recovered:
            if self._file.is_old or self._file.damaged:
                self._rewrite(self.entries())
            if self._is_due(time.time()):
                self._compact(Retention(), time.time())
            return recovered

    @property
    def damaged_file(self) -> Path:
        """Where damaged records are set aside; it exists only if there are some."""
        return self._folder / "damaged.jsonl"

    def damaged_records(self) -> int:
        """The number of damaged records: those set aside, and those still in the journal. Raises OSError."""
        self._refresh()
        try:
            with self.damaged_file.open("rb") as file:
                known = set(file)
        except FileNotFoundError:
            known = set()
        return len(known | set(self._file.damaged))

    def check(self, entry: Entry) -> None:
        """Raise FileError if the entry's lines do not turn its content before into its content after."""
        if entry.before is None or entry.after is None or not entry.splices:
            return
        try:
            file = decode(self.content(entry.before), entry.path)
        except FileError:
            return  # The content is lost, so that only the checksum of the record vouches for it.
        lines = whole_lines(file.text)
        found = [tuple(lines[one.start : one.start + len(one.old)]) for one in entry.splices]
        after = digest(file.encode(spliced(file, entry.splices)))
        if after != entry.after or found != [one.old for one in entry.splices]:
            message = f"the ledger's record of {entry.hunk} is damaged; nothing was touched"
            raise FileError(RefusalCode.IO, message)

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
                    moved_from=entry.path if entry.moved_to else None,
                    last=last[hunk],
                    entries=entries,
                )
            )
        return records

    def content(self, sha256: str) -> bytes:
        """A content before or after some entry. Raises FileError if the journal cannot give it."""
        wanted = sha256
        steps: list[Entry] = []
        while not self._blobs.has(sha256) and sha256 in self._made_by:
            entry = self._entries[self._made_by[sha256]]
            if steps and entry.seq >= steps[-1].seq:
                break  # The change that made it first is lost; a later undo leads round in a circle.
            steps.append(entry)
            if entry.before is None:
                break
            sha256 = entry.before
        data = b"" if steps and steps[-1].before is None else self._blobs.get(sha256)
        for entry in reversed(steps):
            file = decode(data, entry.path)
            data = file.encode(spliced(file, entry.splices))
        if steps and digest(data) != wanted:
            raise FileError(RefusalCode.IO, "the ledger's copy is damaged: its hash is wrong")
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
        self._file.append(to_record(entry), durable=True)
        self._admit(entry)
        return entry

    def settle(self, entry: Entry, state: State) -> None:
        """Record how an intent ended. If the line is lost, recovery finds out by the file's hash."""
        self._file.append(_end(entry.seq, state), durable=False)
        self._entries[entry.seq] = replace(entry, state=state)
        self._open.discard(entry.seq)

    def _last_id(self) -> int:
        """The highest id in the journal, for a lost counter; read without any state, for any thread."""
        try:
            with self._journal.open("rb") as file:
                return max((int(said) for line in file for said in _ID.findall(line)), default=0)
        except FileNotFoundError:
            return 0

    def _is_due(self, now: float) -> bool:
        try:
            # Both ways: the clock may have been ahead.
            return abs(now - (self._folder / "compacted").stat().st_mtime) > DAY
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
            self._rewrite([entry for entry in done if entry.seq in kept])
        wanted = {
            sha256 for entry in self._entries.values() for sha256 in (entry.before, entry.after) if sha256
        }
        self._blobs.sweep(wanted, now - DAY)
        self._step("blobs swept")
        (self._folder / "compacted").touch()

    def _rewrite(self, entries: list[Entry]) -> None:
        """Replace the journal by one with ``entries`` only. What is damaged is set aside first."""
        damaged: dict[int, bytes] = {}
        made: set[str | None] = set()
        for entry in entries:
            if entry.before is not None and entry.before not in made:
                self._keep_whole(entry.before)
            made.add(entry.after)
            try:
                self.check(entry)
            except FileError:
                damaged[entry.seq] = to_line(to_record(entry))
        self.set_aside += self._file.set_aside(self.damaged_file, damaged.values())
        kept = [entry for entry in entries if entry.seq not in damaged]
        self._file.replace(
            record for entry in kept for record in (to_record(entry), _end(entry.seq, entry.state))
        )
        self._refresh()

    def _keep_whole(self, sha256: str) -> None:
        """Keep a content as a blob that may have been built from entries that are dropped."""
        try:
            self._blobs.keep(self.content(sha256))
        except FileError:
            return  # It cannot be had any more; what needs it is refused.
        self._step("blob kept")

    def _forget(self) -> None:
        self._entries.clear()
        self._made_by.clear()
        self._depth.clear()
        self._open.clear()

    def _settle_open(self) -> list[Recovered]:
        recovered: list[Recovered] = []
        for seq in sorted(self._open):
            entry = self._entries[seq]
            state = self._told_by_later(entry) or settle(entry, self.content)
            self.settle(entry, state)
            recovered.append(Recovered(entry.hunk, entry.place, entry.op, state))
        return recovered

    def _told_by_later(self, entry: Entry) -> State | None:
        """How a change ended, as a later one of the same file tells: the line that said so is damaged."""
        for later in self._entries.values():
            if (
                later.seq > entry.seq
                and later.state is State.DONE
                and later.path in (entry.path, entry.place)
            ):
                if later.path == entry.place and later.before == entry.after:
                    return State.DONE
                if later.path == entry.path and later.before == entry.before:
                    return State.DROPPED
                return None
        return None

    def _admit(self, entry: Entry) -> None:
        self._entries[entry.seq] = entry
        self._newest = max(self._newest, entry.seq)
        if entry.state is State.OPEN:
            self._open.add(entry.seq)
        if entry.after is not None and entry.after not in self._made_by and entry.splices:
            self._made_by[entry.after] = entry.seq
            self._depth.setdefault(entry.after, self._depth.get(entry.before or "", 0) + 1)

    def _refresh(self) -> None:
        """Read what any process has appended since. A line that is no record is passed over, and noted."""
        news = self._file.read_new()
        if news.rewritten:
            self._forget()
        for record, line in news.records:
            try:
                self._take(record)
            except (ValueError, KeyError, TypeError, OverflowError):
                self._file.refuse(line)

    def _take(self, record: dict[str, Any]) -> None:
        if record.get("kind") == "intent":
            entry = from_record(record)
            if entry.before is not None and self._blobs.has(entry.before):
                self._depth[entry.before] = 0
            self._admit(entry)
        elif record.get("kind") == "end":
            seq, state = int(record["seq"]), State(record["state"])
            # The change of an end without one was set aside; its number is not given again.
            self._newest = max(self._newest, seq)
            if seq in self._entries:
                self._entries[seq] = replace(self._entries[seq], state=state)
                self._open.discard(seq)


def _end(seq: int, state: State) -> dict[str, Any]:
    return {"kind": "end", "seq": seq, "state": state}
