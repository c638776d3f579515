"""The tables ``[side]``, ``[budget]`` and ``[attempts]`` of the user's ``config.toml``.

``[side]`` says what spark asks by itself, and the budget for it; ``[budget]`` what all requests together may
spend; ``[attempts]`` what differs between
attempts, and their limits. Its keys about a cluster can stand in the user's own ``config.toml`` alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
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


_ADDRESS = re.compile(r"(tcp|tls)://(?:\[[0-9A-Fa-f:]+\]|[\w.-]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """A Dask scheduler. ``ca``, ``cert`` and ``key`` are files; ``files`` are ignored folders that travel
    with the project."""

    address: str
    ca: str = ""
    cert: str = ""
    key: str = ""
    files: tuple[str, ...] = ()

    @property
    def encrypted(self) -> bool:
        """Whether nothing is sent in the clear."""
        return self.address.startswith("tls://")


def read_cluster(table: Table) -> ClusterSettings | None:
    """The cluster in ``table``, or None. Raises TableError."""
    address = table.text("cluster", "")
    files = table.texts("cluster_files")
    tls = table.inner("cluster_tls")
    if not address:
        if tls is not None or files:
            raise table.wrong('cluster_tls and cluster_files need cluster, as "tls://HOST:8786"')
        return None
    if not _ADDRESS.fullmatch(address):
        raise table.wrong('cluster must be "tcp://HOST:PORT" or "tls://HOST:PORT"')
    for each in files:
        path = PurePosixPath(each)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise table.wrong(f"cluster_files names {each!r}, which is not a folder in the project")
    if address.startswith("tls://") != (tls is not None):
        raise table.wrong("cluster_tls, with ca, cert and key, belongs to a tls:// address, which needs it")
    if tls is None:
        return ClusterSettings(address, files=files)
    ca, cert, key = (str(Path(tls.text(name)).expanduser()) for name in ("ca", "cert", "key"))
    tls.end()
    return ClusterSettings(address, ca, cert, key, files)


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
    rounds: int = 2
    """How often a red attempt answers again."""
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
        rounds=table.whole("rounds", defaults.rounds, least=0, most=10),
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
