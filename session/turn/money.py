"""What the user agreed to spend: on a window, a turn, an hour and a day; and what was spent lately.

The limits hold for turns, races and side requests together, over all sessions and projects, by the log of
usage. A model whose price is not known counts nothing.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from session.base.storage.private_files import StoreError
from session.models.catalogue import Price
from session.record.usage_log import Row, read_usage
from session.setup.user_tables import BudgetSettings

HOUR_SECONDS = 3600.0
CHANGE = "change [budget] in config.toml, or give --max-cost"


def dollars(amount: float) -> str:
    """An amount for the user: cents where there are whole ones."""
    return f"${amount:,.2f}" if amount >= 0.01 else f"${amount:,.4f}"


@dataclass(frozen=True, slots=True)
class Purse:
    """What one turn may cost, in dollars; None for no limit."""

    limit: float | None = None
    agreed: bool = False
    """Whether the user agreed to pass the limits."""

    def over(self, cost: float) -> str:
        """Why a turn that has cost so much is stopped; empty while it may go on."""
        if self.limit is None or cost <= self.limit:
            return ""
        now, limit = dollars(cost), dollars(self.limit)
        return f"stopped: this turn has cost {now}, and its limit is {limit}; {CHANGE}"


class MoneyBudget:
    """The budget of one session. Called on the event loop; the log is read in a thread."""

    def __init__(self, settings: BudgetSettings, folder: Path) -> None:
        self.settings = settings
        self._folder = folder
        self._agreed: dict[str, float] = {}
        """What a prompt may cost that the user was told to be over a limit, and sends once more."""
        self._lately = (0.0, 0.0)

    async def refresh(self) -> None:
        """Read what all sessions spent in the last hour and today. Raises StoreError."""
        since = date.today() - timedelta(days=1)
        rows = (await asyncio.to_thread(read_usage, self._folder, since)).rows
        self._lately = spent_lately(rows, time.time())

    def reached(self, coming: float = 0.0) -> str:
        """The limit of an hour or a day that ``coming`` dollars more would pass; empty for none. By what was
        read last."""
        for period, spent, most in zip(
            ("day", "hour"), reversed(self._lately), (self.settings.day, self.settings.hour), strict=True
        ):
            if most and spent + coming > most:
                return (
                    f"{dollars(spent)} of the {dollars(most)} of this {period} are spent "
                    f"(dollars_per_{period} in [budget])"
                )
        return ""

    async def purse(
        self,
        prompt: str,
        least: float | None,
        *,
        can_agree: bool,
        attempts: int = 0,
        own_limit: float | None = None,
    ) -> Purse | str:
        """What a turn with ``prompt`` may cost, of which the first request costs ``least`` (None if that is
        unknown); or why it is not sent. Where the user ``can_agree``, the same prompt is sent the second
        time. A race of so many ``attempts`` is likely to cost ``least``; an ``own_limit`` counts in the place
        of that of a turn."""
        if least is None:
            return Purse(own_limit)
        try:
            await self.refresh()
        except StoreError as problem:
            # What was read last counts on: the log itself tells that it cannot be read.
            unread = f"; {problem}"
        else:
            unread = ""
        asked = f"{attempts} attempts at {prompt}" if attempts else prompt
        agreed = self._agreed.pop(asked, None)
        if agreed is not None:
            return Purse(agreed, agreed=True)
        limit = own_limit or self.settings.turn or None
        why = self.reached(least)
        if not why and limit is not None and least > limit:
            why = f"the limit of a turn is {dollars(limit)} (dollars_per_turn in [budget])"
        if not why:
            return Purse(limit)
        what = (
            f"not begun: {attempts} attempts are likely to cost {dollars(least)}"
            if attempts
            else f"not sent: this turn costs {dollars(least)} at least"
        )
        told = f"{what}, and {why}{unread}"
        if not can_agree:
            return f"{told}; {CHANGE}"
        allowed = least + (limit or least)
        self._agreed = {asked: allowed}
        again = "the same /try once more begins it" if attempts else "Enter sends it"
        return f"{told}; {again} all the same, for up to {dollars(allowed)}"


def spent_lately(rows: tuple[Row, ...], now: float) -> tuple[float, float]:
    """The dollars of the hour before ``now``, and of its day."""
    today = date.fromtimestamp(now)
    hour = sum(row.usage.cost or 0.0 for row in rows if now - row.at < HOUR_SECONDS)
    return hour, sum(row.usage.cost or 0.0 for row in rows if row.day == today)


def least_cost(price: Price | None, fresh: int, cached: int, ratio: float) -> float | None:
    """What a request costs at least whose input has so many tokens by spark's count, ``cached`` of which the
    server has read before; None where the price is unknown."""
    if price is None:
        return None
    return price.cost(int((fresh + cached) * ratio), int(cached * ratio), 0)
