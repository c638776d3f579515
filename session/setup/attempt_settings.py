"""The table ``[attempts]`` of the user's ``config.toml``: what differs between attempts, and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from session.base.text.tables import Table
from session.setup.cluster_settings import ClusterSettings, read_cluster

MOST_ATTEMPTS = 64
_MOST_SLOTS = 64


@dataclass(frozen=True, slots=True)
class AttemptSettings:
    """The settings of the table. Attempt *i* takes the *i*-th of each list, which begins again at its end;
    an empty list leaves what the user has chosen."""

    models: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    temperatures: tuple[float, ...] = ()
    hints: tuple[str, ...] | None = None
    """What attempts are told besides the prompt; None for spark's own."""
    tokens: int | None = 2_000_000
    """The most tokens of a race, input and output of all attempts together."""
    cost: float | None = None
    """The most US dollars of a race, where prices are known."""
    minutes: float | None = 30.0
    checks_at_once: int | None = None
    """The most checks that run at a time; by default one for each two processors of this machine, and on a
    cluster as many as it has room for."""
    cluster: ClusterSettings | None = None
    """The cluster on which the attempts' checks run; None for this machine."""


def read_attempts(values: Any) -> AttemptSettings:
    """The settings in ``values``. Raises TableError."""
    table = Table("[attempts]", values)
    defaults = AttemptSettings()
    settings = AttemptSettings(
        models=table.texts("models"),
        efforts=table.texts("efforts"),
        temperatures=_numbers(table, "temperatures", 2.0),
        hints=table.texts("hints") if table.has("hints") else None,
        tokens=table.whole("tokens", defaults.tokens or 0, least=1, most=10**12),
        cost=_number(table, "cost"),
        minutes=_number(table, "minutes") or defaults.minutes,
        checks_at_once=table.whole("checks_at_once", 0, least=0, most=_MOST_SLOTS) or None,
        cluster=read_cluster(table),
    )
    table.end()
    return settings


def _number(table: Table, key: str) -> float | None:
    if not table.has(key):
        return None
    value = table.take(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**9:
        raise table.wrong(f"{key} must be a number above 0")
    return float(value)


def _numbers(table: Table, key: str, most: float) -> tuple[float, ...]:
    values = table.take(key, [])
    wanted = isinstance(values, list) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
        for value in values
    )
    if not wanted:
        raise table.wrong(f"{key} must be a list of numbers from 0 to {most:g}")
    return tuple(float(value) for value in values)
