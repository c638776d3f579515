"""A past session as moments: its events, each with the time at which it is played, and the texts of its
files.

Waits are shortened, and what the journal has as one piece is spread over the time in which it came: text, and
the lines of a hunk as far as the ledger knows them. Files are as the session's hunks left them, from the
ledger: no file of the project is read.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from pathlib import Path

from edits.files.merge import Merged, merge3
from edits.files.text import FileError, decode
from edits.ledger.entry import Entry, Op
from edits.ledger.ledger import Ledger
from session.base.events import (
    Event,
    HunkLanded,
    HunkOpened,
    HunkRedone,
    HunkTyped,
    HunkUndone,
    Notice,
    ReasoningDelta,
    TextDelta,
)
from session.base.storage.private_files import StoreError
from session.base.text.sanitize import clean_line
from session.project.opened import FileProblem, OpenFile
from session.record.journal.reading import read_event, read_records, time_of
from session.ways.following_link import cleaned

LONGEST_WAIT = 2.0
"""Seconds of a recorded wait that are played."""
MOST_TEXT = 20_000_000
"""Characters of answers that are kept; the rest is left out, and told."""
MOST_FIELD = 1_000_000
"""Characters of one text of another event; an event with a longer one is left out, and told."""
LONGEST_PIECE = 20_000
"""Characters of one piece of an answer: between two pieces, keys are heard."""
_PIECE = 0.03
_SPREAD = 0.25
"""Seconds for which the journal collects text before it is one record."""
_MOST_LINES = 400
"""Lines of one hunk that are typed."""

Typed = Callable[[str], Sequence[tuple[str, str]]]
"""The lines of a hunk with their signs, as the ledger has them; empty where it does not."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An event, and the seconds after the beginning at which it is played."""

    time: float
    event: Event


def read_recording(file: Path, typed: Typed = lambda hunk: ()) -> tuple[Moment, ...]:
    """The moments of the journal ``file``. Raises StoreError if it cannot be read, or holds no event."""
    moments = tuple(_with_lines(tuple(_moments(file)), typed))
    if not moments:
        raise StoreError(f"{file} holds no event of a session")
    return moments


def _moments(file: Path) -> Iterator[Moment]:
    now, before, text, left_out = 0.0, None, 0, False
    for record in read_records(file):
        event = read_event(record)
        if event is None:
            continue
        at = time_of(record)
        at = before if at is None else at
        # A clock that was set back or forward must neither reorder nor stop the replay.
        waited = 0.0 if at is None or before is None else min(max(at - before, 0.0), LONGEST_WAIT)
        now, before = now + waited, at
        if isinstance(event, TextDelta | ReasoningDelta):
            text += len(event.text)
            if text > MOST_TEXT:
                if not left_out:
                    yield Moment(now, Notice("warning", "the answers from here on are too long to replay"))
                left_out = True
                continue
            yield from _in_pieces(event, now, min(waited, _SPREAD))
        elif any(isinstance(value, str) and len(value) > MOST_FIELD for value in record.values()):
            yield Moment(now, Notice("warning", "an event was left out: it is too long to replay"))
        else:
            yield Moment(now, cleaned(event))


def _in_pieces(event: TextDelta | ReasoningDelta, now: float, seconds: float) -> Iterator[Moment]:
    """``event`` as pieces that come in the last ``seconds`` before ``now``."""
    count = max(1, min(int(seconds / _PIECE), len(event.text)))
    size = min(-(-len(event.text) // count) or 1, LONGEST_PIECE)
    count = -(-len(event.text) // size)
    for number, start in enumerate(range(0, max(1, len(event.text)), size), 1):
        piece = cleaned(replace(event, text=event.text[start : start + size]))
        yield Moment(now - seconds * (count - number) / count if number < count else now, piece)


def _with_lines(moments: Sequence[Moment], typed: Typed) -> Iterator[Moment]:
    """``moments`` with the lines of each hunk between its beginning and its landing."""
    landed = {each.event.hunk: each.time for each in reversed(moments) if isinstance(each.event, HunkLanded)}
    waiting: list[tuple[float, int, Moment]] = []
    order = itertools.count()
    for moment in moments:
        while waiting and waiting[0][0] <= moment.time:
            yield heappop(waiting)[2]
        yield moment
        event = moment.event
        if isinstance(event, HunkOpened) and event.hunk in landed:
            end = max(moment.time, landed.pop(event.hunk))  # a hunk is typed once, whatever the journal says
            lines = list(typed(event.hunk))[:_MOST_LINES]
            for number, (kind, line) in enumerate(lines, 1):
                piece = cleaned(HunkTyped(event.turn, event.hunk, kind, f"{line}\n"))
                at = min(end, moment.time + (end - moment.time) / len(lines) * number)
                heappush(waiting, (at, next(order), Moment(at, piece)))
    yield from (each for _, _, each in sorted(waiting))


_OPS = {HunkLanded: Op.LAND, HunkUndone: Op.UNDO, HunkRedone: Op.REDO}


class RecordedFiles:
    """The files of a session at the moment that was played last. Nothing is ever saved."""

    def __init__(self, ledger: Ledger | None, session: str) -> None:
        """``ledger`` is None where there is none; then no text is known. Raises OSError."""
        self._ledger = ledger
        self._by_hunk: dict[tuple[str, Op], list[Entry]] = defaultdict(list)
        for entry in ledger.entries() if ledger is not None else ():
            self._by_hunk[entry.hunk, entry.op].append(entry)
        self._session = session
        self._left: dict[tuple[str, Op], deque[Entry]] = {}
        self._now: dict[str, str | None] = {}
        self.begin()

    def begin(self) -> None:
        """Go back to the beginning of the session."""
        self._left = {key: deque(entries) for key, entries in self._by_hunk.items()}
        self._now = {}

    def typed(self, hunk: str) -> list[tuple[str, str]]:
        """The lines that a hunk removed and added, with their signs."""
        lines = []
        for entry in self._by_hunk.get((hunk, Op.LAND), ())[:1]:
            if entry.session == self._session:
                for splice in entry.splices:
                    lines += [("-", each.rstrip("\r\n")) for each in splice.old]
                    lines += [("+", each.rstrip("\r\n")) for each in splice.new]
        return lines

    def take(self, event: Event) -> None:
        """An event was played."""
        if isinstance(event, HunkOpened):
            coming = self._left.get((event.hunk, Op.LAND))
            if coming and event.path not in self._now:
                self._now[event.path] = coming[0].before
        elif isinstance(event, HunkLanded | HunkUndone | HunkRedone):
            coming = self._left.get((event.hunk, _OPS[type(event)]))
            if coming:
                entry = coming.popleft()
                self._now.pop(entry.path, None)
                self._now[entry.place if entry.after is not None else entry.path] = entry.after

    async def read(self, path: str) -> OpenFile:
        """The text of ``path`` at this moment. Raises FileProblem where the ledger does not have it."""
        return await asyncio.to_thread(self._read, path, self._now.get(path))

    def _read(self, path: str, digest: str | None) -> OpenFile:
        if digest is None or self._ledger is None:
            raise FileProblem(f"the text of {clean_line(path)} is not recorded")
        try:
            source = decode(self._ledger.content(digest), path)
        except (FileError, OSError):
            raise FileProblem(f"the recorded text of {clean_line(path)} is lost") from None
        text = "\n".join(source.lines) + ("\n" if source.endings and source.endings[-1] else "")
        return OpenFile(path, text, source.sha256, source.encoding, source.newline, True, source)

    async def make(self, path: str) -> OpenFile:
        """Raise FileProblem: a replay makes no file."""
        raise FileProblem("this is a replay: no file is made")

    async def save(self, opened: OpenFile, text: str) -> OpenFile:
        """Raise FileProblem: a replay changes no file."""
        raise FileProblem("this is a replay: nothing is saved")

    async def merge(self, base: str, mine: str, theirs: str) -> Merged:
        """The three-way merge."""
        return await asyncio.to_thread(merge3, base, mine, theirs)


def recorded_files(journal: Path) -> RecordedFiles:
    """The files of the session of ``journal``, by the ledger beside its folder. Raises OSError."""
    folder = journal.parent.parent / "ledger"
    there = journal.parent.name == "sessions" and (folder / "hunks.jsonl").is_file()
    return RecordedFiles(Ledger(folder) if there else None, journal.stem)
