"""Adds up a session's usage events, by turn and in total, with side requests and the day's share.

Estimated tokens are also added up apart, so they stay recognisable. An unknown price is never 0: turns
without a price are counted, so that the cost can say how many it leaves out. In the log of usage side
requests have a row for an hour of one kind, in one process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from session.base.events import Event, Usage
from session.base.storage.private_files import StoreError, open_to_read
from session.record.usage_log import Row, UsageLog, month_file, read_row, read_usage


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and dollars of some turns. ``cached`` is part of ``input``, ``reasoning`` part of ``output``;
    ``estimated`` is how many of the tokens are estimates. ``cost`` leaves out the ``unpriced`` turns, whose
    price is unknown, and those that a plan paid: ``planned`` of them, on the ``plan`` of the latest."""

    turns: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: int = 0
    cost: float = 0.0
    unpriced: int = 0
    planned: int = 0
    plan: str = ""

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.turns + other.turns,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.estimated + other.estimated,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.planned + other.planned,
            other.plan or self.plan,
        )

    @property
    def known_cost(self) -> float | None:
        """The cost in dollars; None if no turn's price is known."""
        return self.cost if self.turns > self.unpriced + self.planned else None


def spent(usage: Usage) -> Spent:
    """One turn's figures."""
    tokens = usage.input_tokens + usage.output_tokens
    return Spent(
        turns=1,
        input=usage.input_tokens,
        cached=usage.cached_tokens,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens,
        estimated=tokens if usage.estimated else 0,
        cost=usage.cost or 0.0,
        unpriced=int(usage.cost is None and not usage.plan),
        planned=int(bool(usage.plan)),
        plan=usage.plan,
    )


def total(usages: Iterable[Usage]) -> Spent:
    """All turns together."""
    return sum(map(spent, usages), Spent())


class UsageFold:
    """The turns of one session; ``turns`` holds the latest figures of each."""

    def __init__(self) -> None:
        self.turns: dict[str, Usage] = {}

    def take(self, event: Event) -> None:
        """Add ``event``: a turn's later figures replace its earlier ones."""
        if isinstance(event, Usage):
            self.turns[event.turn] = event

    @property
    def total(self) -> Spent:
        """All turns together."""
        return total(self.turns.values())


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
    unpriced, planned = row.requests * taken.unpriced, row.requests * taken.planned
    return replace(taken, turns=row.requests, unpriced=unpriced, planned=planned)


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


class Accounts:
    """The usage of a session, also written to the log by day.

    ``past`` are the events of a resumed session, whose usage is in the log already.
    """

    def __init__(
        self, folder: Path, *, project: str, session: str, provider: str, past: Iterable[Event] = ()
    ) -> None:
        self._folder = folder
        self._log: UsageLog | None = UsageLog(folder, project=project, session=session, provider=provider)
        self._fold = UsageFold()
        for event in past:
            self._fold.take(event)

    def take(self, event: Event) -> None:
        """Add ``event``. Raises StoreError if the log cannot be written; it is not tried again."""
        self._fold.take(event)
        if isinstance(event, Usage) and self._log is not None:
            log, self._log = self._log, None
            log.add(event)
            self._log = log

    @property
    def turns(self) -> tuple[Usage, ...]:
        """The latest figures of each turn, oldest first."""
        return tuple(self._fold.turns.values())

    @property
    def total(self) -> Spent:
        """All turns of the session."""
        return self._fold.total

    async def today(self) -> tuple[Spent, Spent]:
        """All turns of the day, and all side requests, in all sessions and projects. Raises StoreError if
        that cannot be read."""
        rows = (await asyncio.to_thread(read_usage, self._folder, date.today())).rows
        turns = total(row.usage for row in rows if side_turn(row.usage.turn) is None)
        aside = [side_spent(row) for row in rows if side_turn(row.usage.turn) is not None]
        return turns, sum(aside, Spent())
