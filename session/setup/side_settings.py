"""The tables ``[side]`` and ``[budget]`` of ``config.toml``: what spark asks by itself, and may spend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from session.base.text.tables import Table

REVIEWS = ("on", "security", "off")
"""The values of ``review``."""
_MOST_TOKENS = 10**12
_MOST_DOLLARS = 10**6


@dataclass(frozen=True, slots=True)
class SideSettings:
    """The settings of the table. Tokens are input and output together; dollars are at list prices, where
    these are known."""

    enabled: bool | None = None
    """Whether they go out; None where the user has not said: then they do where they cost nothing, and else
    once the user has agreed."""
    model: str = ""
    """The model that is asked; empty for the provider's cheapest fast one."""
    review: str = "on"
    """What is looked for when the user saves: one of ``REVIEWS``."""
    tokens_per_hour: int = 5_000_000
    tokens_per_day: int = 25_000_000
    dollars_per_hour: float = 0.5
    dollars_per_day: float = 2.0


def read_side(values: Any) -> SideSettings:
    """The settings in ``values``. Raises TableError."""
    table = Table("[side]", values)
    defaults = SideSettings()
    settings = SideSettings(
        enabled=table.flag("enabled", False) if table.has("enabled") else None,
        model=table.text("model", defaults.model).strip(),
        review=table.choice("review", REVIEWS, defaults.review),
        tokens_per_hour=table.whole("tokens_per_hour", defaults.tokens_per_hour, least=0, most=_MOST_TOKENS),
        tokens_per_day=table.whole("tokens_per_day", defaults.tokens_per_day, least=0, most=_MOST_TOKENS),
        dollars_per_hour=table.number("dollars_per_hour", defaults.dollars_per_hour, unit="US dollars"),
        dollars_per_day=table.number("dollars_per_day", defaults.dollars_per_day, unit="US dollars"),
    )
    table.end()
    return settings


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The settings of the table. Dollars are at list prices; 0 is no limit."""

    tokens: int = 0
    """Most tokens of a window, as spark counts them; 0 for what its model takes."""
    turn: float = 1.0
    hour: float = 10.0
    day: float = 50.0

    def window(self, budget: int) -> int:
        """The part of a model's ``budget`` that may be used."""
        return min(budget, self.tokens) if self.tokens else budget


def read_budget(values: Any) -> BudgetSettings:
    """The settings in ``values``. Raises TableError."""
    table, defaults = Table("[budget]", values), BudgetSettings()
    settings = BudgetSettings(
        tokens=table.whole("tokens_per_window", 0, least=4_000, most=10**9, unit="tokens"),
        turn=table.number("dollars_per_turn", defaults.turn, most=_MOST_DOLLARS, unit="US dollars"),
        hour=table.number("dollars_per_hour", defaults.hour, most=_MOST_DOLLARS, unit="US dollars"),
        day=table.number("dollars_per_day", defaults.day, most=_MOST_DOLLARS, unit="US dollars"),
    )
    table.end()
    return settings
