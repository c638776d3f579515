"""The texts of files as a session's hunks left them, from the ledger: no file of the project is read."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from pathlib import Path

from edits.files.merge import Merged, merge3
from edits.files.text import FileError, decode
from edits.ledger.entry import Entry, Op
from edits.ledger.ledger import Ledger
from session.base.events import Event, HunkLanded, HunkOpened, HunkRedone, HunkUndone
from session.base.text.sanitize import clean_line
from session.project.open_files import FileProblem, OpenFile

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
