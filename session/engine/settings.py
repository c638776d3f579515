"""The ``[local]`` table of ``config.toml``: how the embedded engine runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LEAST_CONTEXT = 1024


class LocalError(Exception):
    """A local model or a setting for it cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """``model`` is a file or a pulled name, for ``provider = "local"``; ``context`` in tokens and
    ``threads``, 0 where spark and llama.cpp choose."""

    model: str = ""
    context: int = 0
    threads: int = 0


def read_local(table: Any) -> LocalSettings:
    """The settings in ``table``. Raises LocalError for what cannot be used."""
    if not isinstance(table, Mapping):
        raise LocalError("[local] must be a table")
    for key in table:
        if key not in ("model", "context", "threads"):
            raise LocalError(f"[local] has no key {key!r}; it has model, context and threads")
    model = table.get("model", "")
    if not isinstance(model, str):
        raise LocalError(f"[local] model must be a file or a name, not {model!r}")
    return LocalSettings(
        model, _whole(table, "context", _LEAST_CONTEXT, 2**24), _whole(table, "threads", 1, 512)
    )


def _whole(table: Mapping[str, Any], key: str, least: int, most: int) -> int:
    value = table.get(key, 0)
    if value == 0 and type(value) is int:
        return 0
    if type(value) is not int or not least <= value <= most:
        raise LocalError(f"[local] {key} must be a whole number from {least} to {most}, not {value!r}")
    return value
