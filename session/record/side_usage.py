"""The rows of side requests in the log of usage: one for an hour of one kind, in one process."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from session.base.storage.private_files import StoreError, open_to_read
from session.record.usage_log import Row, month_file, read_row
from session.record.usage_totals import Spent, spent

_PREFIX = "side:"


class Kind(StrEnum):
    """What a side request is for."""

    SUGGESTION = "suggestion"
    NEXT_EDIT = "next-edit"
    REFACTOR = "refactor"
    REVIEW = "review"

    @property
    def asked_for(self) -> bool:
        """Whether the user asked for each one: it goes out while the others are off, and beside an answer."""
        return self is Kind.REFACTOR


@dataclass(frozen=True, slots=True)
class SideTurn:
    """The name of a row, in place of a turn's: the kind, the hour (``2026-11-22T10``) and what makes it
    unique."""

    kind: str
    hour: str
    unique: str

    def __str__(self) -> str:
        return f"{_PREFIX}{self.kind}:{self.hour}:{self.unique}"


def side_turn(turn: str) -> SideTurn | None:
    """The side requests that the row ``turn`` is about; None where it is about a turn."""
    if not turn.startswith(_PREFIX):
        return None
    kind, _, rest = turn.removeprefix(_PREFIX).partition(":")
    hour, _, unique = rest.partition(":")
    return SideTurn(kind, hour, unique)


def side_spent(row: Row) -> Spent:
    """The figures of a row of side requests, each counted as a turn."""
    taken = spent(row.usage)
    return replace(taken, turns=row.requests, unpriced=row.requests * taken.unpriced)


class SideRows:
    """The rows of this month's side requests, of all processes. It reads only what was added since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Path | None = None
        self._offset = 0
        self._rows: dict[tuple[str, str, str], Row] = {}

    def read(self, now: float) -> tuple[tuple[SideTurn, Spent], ...]:
        """The rows of the month in which ``now`` is. It reads a file. Raises StoreError."""
        file = month_file(self._folder, now)
        if file != self._file:
            self._file, self._offset = file, 0
            self._rows.clear()
        try:
            with open_to_read(file) as handle:
                handle.seek(self._offset, os.SEEK_SET)
                new = handle.read()
        except FileNotFoundError:
            new = b""
        except OSError as problem:
            raise StoreError(f"cannot read {file}: {problem.strerror}") from problem
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            # Most lines are turns: they need not be parsed.
            if _PREFIX.encode() in line and (row := read_row(line)) is not None:
                self._rows[row.project, row.session, row.usage.turn] = row
        return tuple(
            (name, side_spent(row))
            for row in self._rows.values()
            if (name := side_turn(row.usage.turn)) is not None
        )
