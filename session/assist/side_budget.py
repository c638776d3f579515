"""The budget of side requests: tokens and dollars by hour and by day. The caller passes the time."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from session.record.side_usage import SideTurn
from session.record.usage_totals import Spent
from session.setup.side_settings import SideSettings


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
