"""What side requests took, by hour: in memory, and in the log of usage, which all sessions share.

The budget of side requests: tokens and dollars by hour and by day. The caller passes the time.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import monotonic

from session.base.events import Usage
from session.base.storage.private_files import StoreError
from session.base.tasks import BackgroundTasks
from session.record.usage import Kind, SideRows, SideTurn, Spent, spent
from session.record.usage_log import UsageLog
from session.setup.user_tables import SideSettings
from session.turn.money import MoneyBudget


def hour_of(now: float) -> str:
    """The hour of local time in which ``now`` (seconds since the epoch) is: ``2026-11-22T10``."""
    return time.strftime("%Y-%m-%dT%H", time.localtime(now))


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that is reached: so much a ``period``, by the setting ``key``."""

    key: str
    said: str
    period: str

    def __str__(self) -> str:
        return f"the {self.said} of this {self.period} are spent ({self.key} in [side])"


class Budget:
    """What was spent by hour: this process's requests, those of others, and what running ones may take."""

    def __init__(self, settings: SideSettings) -> None:
        self._settings = settings
        self._own: dict[str, Spent] = {}
        self._others: dict[str, Spent] = {}
        self._reserved = Spent()

    def add(self, hour: str, taken: Spent) -> None:
        """A request of this process ended in ``hour``."""
        self._own[hour] = self._own.get(hour, Spent()) + taken

    def others(self, rows: Iterable[tuple[SideTurn, Spent]], own: str) -> None:
        """What all processes wrote down so far; names that begin with ``own`` are known already."""
        found: dict[str, Spent] = {}
        for name, taken in rows:
            if not name.unique.startswith(own):
                found[name.hour] = found.get(name.hour, Spent()) + taken
        self._others = found

    def reserve(self, tokens: int, dollars: float) -> Spent:
        """A request goes out that may take so much; to be given back when it has ended."""
        kept = Spent(input=tokens, cost=dollars)
        self._reserved += kept
        return kept

    def give_back(self, kept: Spent) -> None:
        """The request ended."""
        reserved = self._reserved
        self._reserved = Spent(
            input=max(0, reserved.input - kept.input), cost=max(0.0, reserved.cost - kept.cost)
        )

    def spent(self, prefix: str) -> Spent:
        """All of the hours that begin with ``prefix``: an hour, or a day."""
        return sum(
            (
                taken
                for hours in (self._own, self._others)
                for hour, taken in hours.items()
                if hour.startswith(prefix)
            ),
            Spent(),
        )

    def reached(self, hour: str) -> Limit | None:
        """The limit that allows no further request in ``hour``, the longest period first."""
        limits = self._settings
        periods = (
            ("day", hour.partition("T")[0], limits.tokens_per_day, limits.dollars_per_day),
            ("hour", hour, limits.tokens_per_hour, limits.dollars_per_hour),
        )
        for period, prefix, tokens, money in periods:
            taken = self.spent(prefix) + self._reserved
            if taken.cost >= money:
                return Limit(f"dollars_per_{period}", f"${money:,.2f}", period)
            if taken.input + taken.output >= tokens:
                return Limit(f"tokens_per_{period}", f"{tokens:,} tokens", period)
        return None


WRITE_SECONDS = 10.0
"""Most seconds for which what was taken is only in memory."""
READ_SECONDS = 30.0
"""Seconds between two looks at what other processes took."""


class SideAccount:
    """The account of one process. What it has not written yet is lost with a killed process. All methods are
    called on the event loop; the disk is used in threads."""

    def __init__(
        self,
        settings: SideSettings,
        log: UsageLog,
        tasks: BackgroundTasks,
        problem: Callable[[str], None],
        money: MoneyBudget,
    ) -> None:
        """``problem`` is told in one line what cannot be read or written; ``money`` is the user's budget for
        all requests."""
        self._money = money
        self.limits = settings
        """The budget of side requests alone."""
        self.known = False
        """Whether it was read what is spent already."""
        self.on_change: Callable[[], None] = lambda: None
        self._budget = Budget(settings)
        self._log, self._tasks, self._problem = log, tasks, problem
        self._rows = SideRows(log.folder)
        self._own = secrets.token_hex(4)
        self._read_at = -READ_SECONDS
        self._reading: asyncio.Task[None] | None = None
        self._parts: dict[tuple[Kind, str, str], tuple[Usage, int]] = {}
        """The sums of this process, and their numbers of requests, by kind, hour and model."""
        self._unwritten: set[tuple[Kind, str, str]] = set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def reading(self) -> bool:
        """Whether it is being read what all processes took."""
        return self._reading is not None and not self._reading.done()

    def read(self) -> None:
        """Have it read what all processes took, unless that was done lately."""
        if self.reading or monotonic() - self._read_at < READ_SECONDS:
            return
        self._read_at = monotonic()
        self._reading = self._tasks.start(
            self._read_rows(), "reading what side requests took", consequence="there are no suggestions"
        )

    def reached(self) -> str:
        """The limit that allows no further request now; empty for none."""
        own = self._budget.reached(hour_of(time.time()))
        return str(own) if own is not None else self._money.reached()

    def reserve(self, tokens: int, dollars: float) -> Spent:
        """A request goes out that may take so much; to be given to :meth:`count` when it has ended."""
        return self._budget.reserve(tokens, dollars)

    def count(self, kind: Kind, usage: Usage, kept: Spent) -> None:
        """A request ended and took ``usage``, for which ``kept`` was reserved."""
        self._budget.give_back(kept)
        hour = hour_of(time.time())
        self._budget.add(hour, spent(usage))
        key = (kind, hour, usage.model)
        known = self._parts.get(key)
        if known is None:
            turn = str(SideTurn(kind, hour, f"{self._own}{len(self._parts)}"))
            self._parts[key] = replace(usage, turn=turn, first_token_seconds=None, tokens_per_second=None), 1
        else:
            self._parts[key] = _sum(known[0], usage), known[1] + 1
        self._unwritten.add(key)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._write_soon)
        self.on_change()

    def this_hour(self) -> Spent:
        """What all sessions' side requests took in this hour, as far as it is known."""
        return self._budget.spent(hour_of(time.time()))

    def today(self) -> Spent:
        """What all sessions' side requests took today, as far as it is known."""
        return self._budget.spent(hour_of(time.time()).partition("T")[0])

    async def close(self) -> None:
        """Write what is not written yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self._write()

    def _write_soon(self) -> None:
        self._timer = None
        self._tasks.start(
            self._write(), "writing what side requests took", consequence="it is not added up by the day"
        )

    async def _write(self) -> None:
        rows = [self._parts[key] for key in self._unwritten]
        self._unwritten.clear()
        try:
            await asyncio.to_thread(self._add, rows)
        except StoreError as problem:
            self._problem(f"{problem}; what suggestions cost is not added up by the day")

    def _add(self, rows: list[tuple[Usage, int]]) -> None:
        for usage, requests in rows:
            self._log.add(usage, requests)

    async def _read_rows(self) -> None:
        try:
            rows = await asyncio.to_thread(self._rows.read, time.time())
            await self._money.refresh()
        except StoreError as problem:
            # A budget that cannot be read allows nothing.
            self.known = False
            self._problem(f"{problem}; there are no suggestions until it can be read")
            return
        self._budget.others(rows, self._own)
        self.known = True
        self.on_change()


def _sum(one: Usage, other: Usage) -> Usage:
    cost = None if one.cost is None or other.cost is None else round(one.cost + other.cost, 8)
    return replace(
        one,
        input_tokens=one.input_tokens + other.input_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens,
        estimated=one.estimated or other.estimated,
        cost=cost,
    )
