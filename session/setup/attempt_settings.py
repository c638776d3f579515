"""The table ``[attempts]`` of the user's ``config.toml``: what differs between attempts, and their limits.

The keys of ``[attempts]`` about a cluster. Only the user's own ``config.toml`` can name one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from session.base.text.tables import Table

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
