"""A session's accounts: its turns' usage, and its part of the day's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from session.events import Event, Usage
from session.usage.log import UsageLog, read_usage
from session.usage.totals import Spent, UsageFold, total


class Accounts:
    """What the session has taken, and a log of it by the day. ``past`` are a resumed session's events:
    their usage is in the log already."""

    def __init__(
        self, folder: Path, *, project: str, session: str, provider: str, past: Iterable[Event] = ()
    ) -> None:
        self._folder = folder
        self._log: UsageLog | None = UsageLog(folder, project=project, session=session, provider=provider)
        self._fold = UsageFold()
        for event in past:
            self._fold.take(event)

    def take(self, event: Event) -> None:
        """Fold ``event`` in. Raises StoreError when the log cannot be written, which is not tried again."""
        self._fold.take(event)
        if isinstance(event, Usage) and self._log is not None:
            log, self._log = self._log, None
            log.add(event)
            self._log = log

    @property
    def turns(self) -> tuple[Usage, ...]:
        """The last figures of each turn, oldest first."""
        return tuple(self._fold.turns.values())

    @property
    def total(self) -> Spent:
        """All turns of the session."""
        return self._fold.total

    async def today(self) -> Spent:
        """All turns of the day, in all sessions and projects. Raises StoreError when that cannot be read."""
        rows = await asyncio.to_thread(read_usage, self._folder, date.today())
        return total(row.usage for row in rows.rows)
