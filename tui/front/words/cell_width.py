"""How many cells a text takes.

rich remembers the last 4,096 texts that it measured: of a streamed answer and a clock these are 0.8 MB.
"""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cached_cell_len

_measured = lru_cache(maxsize=512)(cached_cell_len.__wrapped__)


def cell_len(text: str) -> int:
    """The cells that one line takes: a character of ASCII takes one, and rich knows of the others."""
    return len(text) if text.isascii() and text.isprintable() else _measured(text)
