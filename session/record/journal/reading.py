"""Reads the journals of sessions: the parts of each as one, and only the lines that are what was written.

The events of a session that is resumed are read fast, and with a bound on the memory it takes. Pieces of text
that follow each other become one event. Of a long session only the newest text is kept, about as much as fits
into a model's window and is drawn in a moment; all other events are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edits.checked_lines import is_cut, sum_is_right
from session.base.events import Event, HunkAimed, Notice, PhaseChanged, ReasoningDelta, TextDelta, from_dict
from session.base.storage.private_files import StoreError, open_to_read
from session.record.journal.parts import HEADER, TEXT, beginnings, check_version, is_thinned, part_file, parts

_YEAR_9999 = 253_370_000_000
"""Seconds since 1970; later times are no dates in Python."""


class LineCheck:
    """Tells which lines of a journal are what was written; asked about them in their order."""

    def __init__(self) -> None:
        self._summed = False
        self.damaged = 0
        """The number of lines that were whole once. A line that a killed process began is not among them."""

    def takes(self, line: bytes) -> bool:
        """Whether ``line`` is to be parsed: its checksum is right, or it is older than all checksums."""
        line = line.rstrip(b"\r\n")
        right = sum_is_right(line)
        if right is not None:
            self._summed = True
            self.damaged += not right
            return right
        if self._summed and line:
            self.damaged += not is_cut(line) or line.endswith(b"}")
        return bool(line) and not self._summed

    def parse(self, lines: list[bytes]) -> list[dict[str, Any]]:
        """The records of the lines that are right, without their checksums."""
        taken = [line for line in lines if self.takes(line)]
        try:
            values = json.loads(b"[" + b",".join(taken) + b"]")
        except (ValueError, RecursionError):
            values = []
        if len(values) != len(taken):
            values = [self._parsed(line) for line in taken]
        records = []
        for value in values:
            if isinstance(value, dict):
                value.pop("sum", None)
                records.append(value)
            else:
                self.damaged += value is not None
        return records

    def _parsed(self, line: bytes) -> Any:
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            self.damaged += not is_cut(line)
            return None


def read_records(file: Path) -> Iterator[dict[str, Any]]:
    """Every event of a journal as the JSON object that was written, in order; damaged lines are skipped.

    Raises StoreError when the file cannot be read.
    """
    check = LineCheck()
    for lines in read_blocks(file, 64_000):
        yield from (record for record in check.parse(lines) if record.get("type") != "journal")


def read_blocks(file: Path, size: int, end: tuple[int, int] | None = None) -> Iterator[list[bytes]]:
    """The lines of a journal and the headers of its parts, in order, about ``size`` bytes at a time. ``end``
    is the last part to read, and the bytes to read of it.

    Raises StoreError as above, also for a journal of a newer version.
    """
    part = file
    try:
        for number in parts(file):
            if end is not None and number > end[0]:
                return
            left = end[1] if end is not None and number == end[0] else None
            part = part_file(file, number)
            with open_to_read(part) as handle:
                first = True
                while lines := _within(handle.readlines(size), left):
                    if left is not None:
                        left -= sum(map(len, lines))
                    if first:
                        check_version(part, lines[0])
                        first = False
                    yield lines
    except OSError as problem:
        raise StoreError(f"cannot read {part}: {problem.strerror}") from problem


def _within(lines: list[bytes], most: int | None) -> list[bytes]:
    """The first ``lines`` that ``most`` bytes have room for."""
    if most is not None:
        room = sum(map(len, lines))
        while lines and room > most:
            room -= len(lines.pop())
    return lines


def read_lines(file: Path) -> Iterator[bytes]:
    """Every line of a journal, in order, without the headers. Raises StoreError as above."""
    for lines in read_blocks(file, 64_000):
        yield from (line for line in lines if not line.startswith(HEADER))


def read_event(record: dict[str, Any]) -> Event | None:
    """The event of a journal record, or None for other records and for damaged ones."""
    try:
        return from_dict(record)
    except TypeError:
        return None


def time_of(record: dict[str, Any]) -> float | None:
    """The seconds since 1970 at which a record was written; None where it says none that a calendar has."""
    at = record.get("at")
    return float(at) if isinstance(at, int | float) and 0 <= at < _YEAR_9999 else None


def journal_size(file: Path) -> int:
    """The bytes of all parts of a journal. Raises StoreError if they cannot be told."""
    try:
        return sum(part_file(file, number).stat().st_size for number in parts(file))
    except OSError as problem:
        raise StoreError(f"cannot read {file}: {problem.strerror}") from problem


def damaged_lines(file: Path) -> int:
    """The number of damaged lines of a journal. Raises StoreError when the file cannot be read."""
    check = LineCheck()
    for lines in read_blocks(file, 250_000):
        check.parse(lines)
    return check.damaged


LAST_PART = 1_000_000
"""Bytes at the end of a journal whose text is kept; the text before is left out."""
LEFT_OUT = (
    "the answers above are left out, since this session is long; spark export {name} prints all of them"
)
_MOST_JOINED = 64_000
"""Characters at which pieces of text are not joined any further."""
_NUMBER = re.compile(r"[0-9]{1,9}")
BLOCK = 250_000
"""Bytes that are read and parsed at once: parsing single lines takes several times as long."""


_TRANSIENT = beginnings(HunkAimed, PhaseChanged)
"""They mean nothing when the turn is over, and there are many of them."""


@dataclass(frozen=True, slots=True)
class Past:
    """The events of a journal, oldest first, and the number of its lines that are damaged."""

    events: tuple[Event, ...]
    damaged: int


def read_past(file: Path, end: tuple[int, int] | None = None) -> Past:
    """The events of the journal ``file``, or of what it had when its newest part and the bytes in that were
    ``end``; damaged lines are skipped.

    Raises StoreError when the file cannot be read.
    """
    check = LineCheck()
    return Past(tuple(_joined(_events(file, check, end))), check.damaged)


def _joined(events: Iterator[Event]) -> Iterator[Event]:
    """``events`` with pieces of text that follow each other as one."""
    held: TextDelta | ReasoningDelta | None = None
    texts: list[str] = []
    length = 0
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            if type(held) is type(event) and held.turn == event.turn and length < _MOST_JOINED:
                texts.append(event.text)
                length += len(event.text)
                continue
            if held is not None:
                yield replace(held, text="".join(texts))
            held, texts, length = event, [event.text], len(event.text)
            continue
        if held is not None:
            yield replace(held, text="".join(texts))
            held = None
        yield event
    if held is not None:
        yield replace(held, text="".join(texts))


def _events(file: Path, check: LineCheck, end: tuple[int, int] | None) -> Iterator[Event]:
    """The events that are kept. A notice stands for the text that is left out."""
    start = journal_size(file) - LAST_PART
    place, left_out = 0, False
    for lines in read_blocks(file, BLOCK, end):
        place += sum(map(len, lines))
        shortened = is_thinned(lines[0])
        if place <= start or shortened:
            left_out = left_out or shortened or any(line.startswith(TEXT) for line in lines)
            kept = [line for line in lines if not line.startswith(TEXT + _TRANSIENT)]
        else:
            if left_out:
                left_out = False
                yield Notice("info", LEFT_OUT.format(name=file.stem))
            kept = [line for line in lines if not line.startswith(_TRANSIENT)]
        for record in check.parse(kept):
            event = read_event(record)
            if event is not None:
                yield event


def last_number(names: Iterable[str], letter: str) -> int:
    """The highest number among ``names`` that are ``letter`` and a number, as ``t12``; 0 if there is none.

    What follows is numbered from it. A count would give a name twice where a record is damaged.
    """
    numbers = (name.removeprefix(letter) for name in names if name.startswith(letter))
    return max((int(number) for number in numbers if _NUMBER.fullmatch(number)), default=0)
