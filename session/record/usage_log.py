"""Usage by day, over all sessions and projects: JSON lines in the state folder, one file a month.

It is kept apart from the journals, since adding up a month of journals would read megabytes for a few
numbers, and a journal may be deleted. A line holds the figures of a turn so far, and the last line of a turn
counts, so a killed process loses at most the response that was running. Each line is written in one call to a
file opened for appending, which several sessions can share.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from session.base.events import Usage, from_dict, to_dict
from session.base.storage.private_files import StoreError, append_line

_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Row:
    """One turn: ``day`` in local time, ``project`` its folder."""

    day: date
    project: str
    session: str
    provider: str
    usage: Usage
    requests: int = 1
    """Side requests in the row, which holds all of an hour of one kind; 1 for a turn."""
    at: float = 0.0
    """When the line was written, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What was read; ``skipped`` counts lines that were damaged or held something else."""

    rows: tuple[Row, ...]
    skipped: int


class UsageLog:
    """Appends the figures of one session's turns. ``folder`` holds the usage of all projects."""

    def __init__(self, folder: Path, *, project: str, session: str, provider: str) -> None:
        self.folder = folder
        self._head = {"project": project, "session": session, "provider": provider}

    def add(self, usage: Usage, requests: int = 1) -> None:
        """Append a turn's figures so far, or those of so many side ``requests``. Raises StoreError if they
        cannot be written."""
        now = time.time()
        file = month_file(self.folder, now)
        record = {"at": round(now, 3), **self._head, **to_dict(usage)}
        if requests != 1:
            record["requests"] = requests
        append_line(file, json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii"))


def month_file(folder: Path, now: float) -> Path:
    """The file of the month in which ``now`` (seconds since the epoch) is."""
    return folder / (time.strftime("%Y-%m", time.localtime(now)) + _SUFFIX)


def read_usage(folder: Path, since: date) -> Rows:
    """The turns from the day ``since`` on, oldest first. Raises StoreError if a file cannot be read."""
    last: dict[tuple[str, str, str], Row] = {}
    skipped = 0
    # A line may have been written in another time zone.
    first = (since - timedelta(days=1)).strftime("%Y-%m")
    for file in sorted(folder.glob("*" + _SUFFIX)):
        if file.stem < first:
            continue
        for line in _lines(file):
            row = read_row(line)
            if row is None:
                skipped += 1
            else:
                last[row.project, row.session, row.usage.turn] = row
    rows = sorted((row for row in last.values() if row.day >= since), key=lambda row: row.day)
    return Rows(tuple(rows), skipped)


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as handle:
            yield from (line for line in handle if line.strip())
    except OSError as problem:
        raise StoreError(f"cannot read {file}: {problem.strerror}") from problem


def read_row(line: bytes) -> Row | None:
    """The row in a line of a file; None where the line is damaged."""
    try:
        record: Any = json.loads(line)
        if not isinstance(record, dict):
            return None
        usage = from_dict(record)
        day = date.fromtimestamp(record["at"])
    except (ValueError, TypeError, KeyError, OverflowError, OSError, RecursionError):
        return None
    project, session, provider = (record.get(name) for name in ("project", "session", "provider"))
    if not (isinstance(usage, Usage) and isinstance(project, str) and isinstance(session, str)):
        return None
    requests = record.get("requests", 1)
    count = requests if type(requests) is int else 1
    return Row(day, project, session, str(provider or ""), usage, count, float(record["at"]))
