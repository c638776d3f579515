"""The ``[local]`` table of ``config.toml``: how the embedded engine runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from session.base.text.tables import Table

_LEAST_CONTEXT = 1024
_MOST_CONTEXT = 2**24
_MOST_THREADS = 512


class LocalError(Exception):
    """A local model cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """The table. 0 leaves a number to spark and llama.cpp."""

    model: str = ""
    """A file or the name of a pulled model, for ``provider = "local"``."""
    context: int = 0
    """The model's window in tokens."""
    threads: int = 0


def read_local(values: Any) -> LocalSettings:
    """The settings in ``values``. Raises TableError."""
    table = Table("[local]", values)
    settings = LocalSettings(
        model=table.text("model", ""),
        context=table.whole("context", 0, least=_LEAST_CONTEXT, most=_MOST_CONTEXT, unit="tokens"),
        threads=table.whole("threads", 0, least=1, most=_MOST_THREADS),
    )
    table.end()
    return settings
