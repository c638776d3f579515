"""Sessions on disk: one append-only journal file each, JSON lines, private to the user.

A line is an event (``session.events``) with ``at``, the seconds since 1970. A session is resumed from this
file alone. Readers skip a line that a crash cut off, and writers begin the next one on a line of its own.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from session.events import Event, ReasoningDelta, TextDelta, from_dict, to_dict
from session.storage.line_files import StoreError, open_for_lines, open_to_read, write_all

SUFFIX = ".jsonl"
_LONGEST_DELTA = 16_000
"""Characters of collected text at which it is written."""
LONGEST_HELD = 0.25
"""Seconds for which text is collected before it is written."""
_MOST_UNWRITTEN = 20_000
"""Most events that are kept in memory while the file cannot be written."""


def new_session_name() -> str:
    """A name that sorts by time and does not clash: ``YYYYMMDD-HHMMSS-xxxx``."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


class Journal:
    """Appends to one session's file. Deltas are collected; other events are written at once, after them.

    Every write reaches the kernel before the call returns. Collected text is written with the next other
    event, with the next delta when ``LONGEST_HELD`` is over, or by :meth:`flush`, which the recorder calls at
    that time: a killed process loses at most the text of the last ``LONGEST_HELD`` seconds of an answer.
    Hunks are also in the ledger, which is durable. Events that cannot be written are kept in memory, and are
    written before the next one that can be.
    """

    def __init__(self, folder: Path, session: str) -> None:
        self.session = session
        self.file = folder / (session + SUFFIX)
        self._descriptor: int | None = None
        self._delta: TextDelta | ReasoningDelta | None = None
        """The first of the collected deltas, which have one kind and turn."""
        self._texts: list[str] = []
        """The texts of the collected deltas."""
        self._length = 0
        self._since = 0.0
        """When the first of them was collected."""
        self._unwritten: deque[bytes] = deque()
        """The lines that could not be written yet, oldest first."""
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

    def close(self) -> None:
        """Write what is left and close the file. Raises StoreError if it cannot be written."""
        try:
            self._end_delta()
            self._write_lines()
        finally:
            self._unwritten.clear()
            self._let_go()

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
        if len(self._unwritten) >= _MOST_UNWRITTEN:
            self._unwritten.popleft()
            self.lost += 1
        record = {**to_dict(event), "at": round(time.time(), 3)}
        # A lone surrogate (from a file name) must not make the record unwritable.
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        self._unwritten.append(line)

    def _write_lines(self) -> None:
        try:
            while self._unwritten:
                if self._descriptor is None:
                    self._descriptor = open_for_lines(self.file)
                write_all(self._descriptor, self._unwritten[0])
                self._unwritten.popleft()
        except OSError as problem:
            self._let_go()
            raise StoreError(
                f"cannot write the session's journal {self.file}: {problem.strerror}"
            ) from problem

    def _let_go(self) -> None:
        """Close the file. The next append opens it again, and so starts on a line of its own."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def read_records(file: Path) -> Iterator[dict[str, Any]]:
    """Every JSON object of a journal, in order; damaged lines are skipped.

    Raises StoreError when the file cannot be read.
    """
    for line in read_lines(file):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def read_lines(file: Path) -> Iterator[bytes]:
    """Every line of a journal, in order. Raises StoreError when the file cannot be read."""
    for lines in read_blocks(file, 64_000):
        yield from lines


def read_blocks(file: Path, size: int) -> Iterator[list[bytes]]:
    """The lines of a journal, in order, about ``size`` bytes at a time. Raises StoreError as above."""
    try:
        with open_to_read(file) as handle:
            while lines := handle.readlines(size):
                yield lines
    except OSError as problem:
        raise StoreError(f"cannot read {file}: {problem.strerror}") from problem


def read_event(record: dict[str, Any]) -> Event | None:
    """The event of a journal record, or None for other records and for damaged ones."""
    try:
        return from_dict(record)
    except TypeError:
        return None
