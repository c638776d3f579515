"""The table ``[side]`` of the user's ``config.toml``: what spark asks by itself, and the budget for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from session.base.text.tables import Table

REVIEWS = ("on", "security", "off")
"""The values of ``review``."""
_MOST_TOKENS = 10**12


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
