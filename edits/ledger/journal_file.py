"""The journal's file: appended to by several processes, read from where one left off, replaced as a whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edits.checked_lines import DamagedLineError, UnfinishedLineError, from_line, to_line
from edits.files.durable import Step, no_step
from edits.files.replacing import replacing, sync_folder

VERSION = 2
"""The version of the format. Version 1 had neither a first line that names it nor checksums. It is still
read, and rewritten when a ledger is recovered."""
FIRST = {"kind": "ledger", "version": VERSION}
"""The first line of a journal."""

# More damage than this is not kept; it would be no journal.
_MOST_DAMAGE = 16 * 1024 * 1024


@dataclass(slots=True)
class News:
    """What was appended to a journal since it was read last."""

    rewritten: bool = False
    """Whether the file was replaced, so that all of it was read again."""
    records: list[tuple[dict[str, Any], bytes]] = field(default_factory=list)
    """Each record, and the line that it was read from."""


class JournalFile:
    """The journal at ``path``. Raises OSError where the file cannot be read or written, or is too new."""

    def __init__(self, path: Path, step: Step = no_step) -> None:
        self._path = path
        self._step = step
        self._file: tuple[int, int] | None = None
        self.read_to = 0
        self.damaged: list[bytes] = []
        """The lines that are no records."""
        self._summed = False
        self._old = 0

    @property
    def is_old(self) -> bool:
        """Whether there are lines of the first version in it."""
        return self._old > 0

    def read_new(self) -> News:
        """The records that any process has appended since the last call; lines that are none are noted."""
        news = News()
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) != self._file or status.st_size < self.read_to:
                    self._forget()
                    self._file = (status.st_dev, status.st_ino)
                    news.rewritten = True
                file.seek(self.read_to)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # It is being written, or its process died.
                    self.read_to += len(line)
                    if line.strip():
                        news.records.extend(self._record(line))
        except FileNotFoundError:
            if self._file is not None:
                self._forget()
                news.rewritten = True
        return news

    def append(self, record: dict[str, Any], *, durable: bool) -> None:
        """Append a record; with ``durable`` it is on the disk afterwards."""
        line = to_line(record)
        with self._path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size == 0:
                line = to_line(FIRST) + line
                self._summed = True
            elif size > self.read_to:
                line = b"\n" + line  # A process died while it wrote a line: end that line first.
            file.write(line)
            file.flush()
            self._step("line written")
            if durable:
                os.fsync(file.fileno())
                if size == 0:
                    sync_folder(self._path.parent)
                self._step("line synced")
            status = os.fstat(file.fileno())
        self._file = (status.st_dev, status.st_ino)
        self.read_to = size + len(line)

    def replace(self, records: Iterable[dict[str, Any]]) -> None:
        """Make ``records`` the whole content, in one step. The next :meth:`read_new` gives all of them."""
        for left in self._path.parent.glob(f".{self._path.name}.*.new"):
            left.unlink(missing_ok=True)  # A process died while it replaced the file.
        with replacing(self._path) as file:
            self._step("journal begun")
            file.write(to_line(FIRST))
            for record in records:
                file.write(to_line(record))
            self._step("journal prepared")
        self._step("journal replaced")
        self._forget()

    def set_aside(self, place: Path, more: Iterable[bytes] = ()) -> int:
        """Append the damaged lines, and ``more``, to the file ``place``, durably; returns how many are new
        there."""
        try:
            known = set(place.read_bytes().splitlines(keepends=True))
        except FileNotFoundError:
            known = set()
        lines = [line for line in dict.fromkeys([*self.damaged, *more]) if line not in known]
        if lines and sum(map(len, known)) < _MOST_DAMAGE:
            with place.open("ab") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(place.parent)
            self._step("damage set aside")
        return len(lines)

    def refuse(self, line: bytes) -> None:
        """Note that ``line`` is no record of a change after all."""
        self.damaged.append(line)

    def _record(self, line: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        try:
            record, summed = from_line(line, may_lack_sum=not self._summed)
        except UnfinishedLineError:
            return
        except DamagedLineError:
            self.damaged.append(line)
            return
        self._summed = self._summed or summed
        self._old += not summed
        if record.get("kind") != "ledger":
            yield record, line
        elif record.get("version") != VERSION:
            raise OSError(
                errno.ENOTSUP, f"{self._path} was written by a newer version of spark: update this one"
            )

    def _forget(self) -> None:
        self.read_to = 0
        self.damaged = []
        self._summed = False
        self._old = 0
        self._file = None
