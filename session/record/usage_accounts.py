"""A session's usage, and its share of the day's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from session.base.events import Event, Usage
from session.record.side_usage import side_spent, side_turn
from session.record.usage_log import UsageLog, read_usage
from session.record.usage_totals import Spent, UsageFold, total


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
