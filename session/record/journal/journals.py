"""Sessions on disk: one append-only journal each, JSON lines with checksums, private to the user.

A line is an event (``session.base.events``) with ``at``, the seconds since 1970. A session is resumed from
its journal alone. Readers (``session.record.journal.reading``) skip a line that a crash cut off, and writers
begin the next one on a line of its own. A long journal goes on in another part
(``session.record.journal.parts``).
"""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from edits.checked_lines import to_line
from edits.files.durable import Step, no_step
from edits.files.replacing import sync_folder
from session.base.events import Event, ReasoningDelta, TextDelta, to_dict
from session.base.storage.private_files import StoreError, open_for_lines, write_all
from session.record.journal.parts import (
    KEPT_PARTS,
    PART_BYTES,
    SUFFIX,
    header,
    part_file,
    parts,
    thin_old_parts,
)

_LONGEST_DELTA = 16_000
"""Characters of collected text at which it is written."""
LONGEST_HELD = 0.25
"""Seconds for which text is collected before it is written."""
_MOST_UNWRITTEN = 32_000_000
"""Bytes of events that are kept in memory while the file cannot be written."""


def new_session_name() -> str:
    """A name that sorts by time and does not clash: ``YYYYMMDD-HHMMSS-xxxx``."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


class Journal:
    """Appends to one session's file. Deltas are collected; other events are written at once, after them.

    Every write reaches the kernel before the call returns. Collected text is written with the next other
    event, with the next delta when ``LONGEST_HELD`` is over, or by :meth:`flush`, which the recorder calls at
    that time: a killed process loses at most the text of the last ``LONGEST_HELD`` seconds of an answer.
    :meth:`upkeep` makes what was written durable; hunks are also in the ledger, which always is. Events that
    cannot be written are kept in memory, and are written before the next one that can be.
    """

    def __init__(self, folder: Path, session: str, step: Step = no_step) -> None:
        self.session = session
        self.file = folder / (session + SUFFIX)
        self._step = step
        self._descriptor: int | None = None
        self._part = 1
        self._size = 0
        """The bytes of the part that is written to."""
        self._full: list[int] = []
        """The full parts that may not be durable yet."""
        self.begun = False
        """Whether a part was made since :meth:`upkeep` was called last."""
        self._delta: TextDelta | ReasoningDelta | None = None
        """The first of the collected deltas, which have one kind and turn."""
        self._texts: list[str] = []
        """The texts of the collected deltas."""
        self._length = 0
        self._since = 0.0
        """When the first of them was collected."""
        self._unwritten: deque[bytes] = deque()
        """The lines that could not be written yet, oldest first."""
        self._waiting = 0
        """Their bytes."""
        self.lost = 0
        """The number of events for which there was no memory while the file could not be written."""

    @property
    def unwritten(self) -> int:
        """The number of events that could not be written yet."""
        return len(self._unwritten)

    def write(self, event: Event) -> None:
        """Append ``event``. Raises StoreError if it cannot be written now; the next call tries again."""
        if isinstance(event, TextDelta | ReasoningDelta):
            if not self._gather(event):
                return
        else:
            self._end_delta()
            self._add(event)
        self._write_lines()

    @property
    def holds_text(self) -> bool:
        """Whether text is collected that is not written yet."""
        return self._delta is not None

    def flush(self) -> None:
        """Write the collected text now. Raises StoreError if it cannot be written."""
        self._end_delta()
        self._write_lines()

    @property
    def position(self) -> tuple[int, int]:
        """The newest part and the bytes in it; 0 where there is none yet."""
        try:
            newest = parts(self.file)[-1]
            return newest, part_file(self.file, newest).stat().st_size
        except OSError:
            return 1, 0

    def close(self) -> None:
        """Write what is left and close the file. Raises StoreError if it cannot be written."""
        try:
            self._end_delta()
            self._write_lines()
        finally:
            self._unwritten.clear()
            self._waiting = 0
            self._let_go()
            for descriptor in self._full:
                os.close(descriptor)
            self._full = []

    def _gather(self, delta: TextDelta | ReasoningDelta) -> bool:
        """Collect ``delta`` with those before it; true if there is a line to write now."""
        held, ended = self._delta, False
        if held is None or type(held) is not type(delta) or held.turn != delta.turn:
            ended = self._end_delta()
            self._delta, self._since = delta, time.monotonic()
        self._texts.append(delta.text)
        self._length += len(delta.text)
        if self._length > _LONGEST_DELTA or time.monotonic() - self._since > LONGEST_HELD:
            ended = self._end_delta()
        return ended

    def _end_delta(self) -> bool:
        """Add the collected text to the lines to write; false if there is none."""
        delta, self._delta = self._delta, None
        if delta is not None:
            self._add(replace(delta, text="".join(self._texts)))
            self._texts.clear()
            self._length = 0
        return delta is not None

    def _add(self, event: Event) -> None:
        record = {**to_dict(event), "at": round(time.time(), 3)}
        # A lone surrogate (from a file name) must not make the record unwritable.
        line = to_line(record, ascii_only=True)
        self._unwritten.append(line)
        self._waiting += len(line)
        while self._waiting > _MOST_UNWRITTEN and len(self._unwritten) > 1:
            self._waiting -= len(self._unwritten.popleft())
            self.lost += 1

    def _write_lines(self) -> None:
        try:
            while self._unwritten:
                line = self._unwritten[0]
                if self._size >= PART_BYTES:
                    self._let_go()
                if self._descriptor is None:
                    self._descriptor = self._open()
                if self._size == 0:
                    line = header(self._part) + line
                write_all(self._descriptor, line)
                self._step("line written")
                self._size += len(line)
                self._waiting -= len(self._unwritten.popleft())
        except OSError as problem:
            self._let_go()
            raise StoreError(
                f"cannot write the session's journal {self.file}: {problem.strerror}"
            ) from problem

    def _open(self) -> int:
        """Open the newest part, or a new one if that is full."""
        self._part = parts(self.file)[-1]
        descriptor = open_for_lines(part_file(self.file, self._part))
        self._size = os.fstat(descriptor).st_size
        if self._size >= PART_BYTES:
            self._full.append(descriptor)
            self._part += 1
            descriptor = open_for_lines(part_file(self.file, self._part))
            self._size = os.fstat(descriptor).st_size
        self.begun = self.begun or self._size == 0
        self._step("part opened")
        return descriptor

    def upkeep(self) -> Callable[[], None] | None:
        """What makes all that was written so far durable and, after a new part, takes the text out of old
        ones: a function for another thread, which raises OSError. None when nothing was written."""
        if self._descriptor is None:
            return None
        written, begun = [os.dup(self._descriptor), *self._full], self.begun
        self._full, self.begun = [], False

        def work() -> None:
            try:
                for descriptor in written:
                    os.fsync(descriptor)
            finally:
                for descriptor in written:
                    os.close(descriptor)
            if begun:
                sync_folder(self.file.parent)
            self._step("journal synced")
            if begun and self._part > KEPT_PARTS:
                thin_old_parts(self.file, self._step)

        return work

    def _let_go(self) -> None:
        """Close the file. The next append opens it again, and so starts on a line of its own."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._size = 0
