"""Reads the public table of models and prices that litellm publishes, and what a row of it tells.

The table is ``model_prices_and_context_window_backup.json`` in litellm's package. Its prices are in dollars
for one token; a name ends with what the price is for: ``input_cost_per_token_above_272k_tokens_priority``.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from session.base.text.tables import TableError

_IN_WHEEL = "litellm/model_prices_and_context_window_backup.json"
_KINDS = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
}
_STEP = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_EFFORT_FLAGS = {
    "none": "supports_none_reasoning_effort",
    "minimal": "supports_minimal_reasoning_effort",
    "xhigh": "supports_xhigh_reasoning_effort",
    "max": "supports_max_reasoning_effort",
}
_USUAL_EFFORTS = ("low", "medium", "high")
_LEVELS = ("none", "minimal", *_USUAL_EFFORTS, "xhigh", "max")
TIERS = {"priority": "fast_price", "ultrafast": "ultrafast_price"}
"""The table's names of faster tiers, and the keys of their prices in a row of spark's."""
_KEPT = (
    "max_input_tokens", "max_output_tokens", "deprecation_date", "source", "reasoning_effort_levels",
    "supports_reasoning", "supports_vision", "supports_function_calling", "provider_specific_entry",
    *_EFFORT_FLAGS.values(),
)  # fmt: skip
_PRICE = re.compile(rf"(?:{'|'.join(_KINDS.values())})(?:_above_\d+k_tokens)?(?:_(?:{'|'.join(TIERS)}))?")


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A version of the table, taken on the day ``date``, with its rows by the table's own names."""

    version: str
    date: str
    rows: Mapping[str, Mapping[str, Any]]

    def kept(self, names: Collection[str]) -> PublicTable:
        """The rows called ``names``, with the keys that spark reads."""
        rows = {
            name: {key: value for key, value in sorted(row.items()) if key in _KEPT or _PRICE.fullmatch(key)}
            for name, row in sorted(self.rows.items())
            if name in names
        }
        return PublicTable(self.version, self.date, rows)


def read_wheel(file: Path, date: str) -> PublicTable:
    """The table in litellm's wheel ``file``, which was taken on ``date``. Raises TableError."""
    try:
        with zipfile.ZipFile(file) as wheel:
            rows = json.loads(wheel.read(_IN_WHEEL))
            version = file.name.split("-")[1]
    except (OSError, KeyError, IndexError, ValueError, zipfile.BadZipFile) as problem:
        raise TableError(f"{file} is not a wheel of litellm with its table of prices: {problem}") from problem
    return PublicTable(version, date, rows)


def values_of(row: Mapping[str, Any], tiers: Collection[str]) -> dict[str, Any]:
    """The values of spark's row that the table's ``row`` tells; the provider sells ``tiers``."""
    values: dict[str, Any] = {
        "limit": row.get("max_input_tokens"),
        "output": row.get("max_output_tokens"),
        "efforts": list(_efforts(row)),
        "modalities": ["text", "image"] if row.get("supports_vision") else ["text"],
        "price": _price(row, ""),
        "ends": row.get("deprecation_date"),
    }
    if not row.get("supports_function_calling", True):
        values["tools"] = False
    for tier in tiers:
        values[TIERS[tier]] = _price(row, f"_{tier}")
    times = row.get("provider_specific_entry", {}).get("fast")
    if times and values["price"]:
        values["fast_price"] = multiplied(values["price"], times)
    return {key: value for key, value in values.items() if value not in (None, {})}


def multiplied(price: Mapping[str, Any], times: float) -> dict[str, Any]:
    """``price`` with each amount multiplied; the steps stay where they are."""
    return {
        key: multiplied(value, times)
        if isinstance(value, Mapping)
        else value
        if key == "over"
        else round(value * times, 6)
        for key, value in price.items()
    }


def _efforts(row: Mapping[str, Any]) -> tuple[str, ...]:
    if "reasoning_effort_levels" in row:
        return tuple(sorted(row["reasoning_effort_levels"], key=_LEVELS.index))
    if not row.get("supports_reasoning"):
        return ()
    more = {effort for effort, flag in _EFFORT_FLAGS.items() if row.get(flag)}
    return tuple(level for level in _LEVELS if level in more or level in _USUAL_EFFORTS)


def _price(row: Mapping[str, Any], tier: str) -> dict[str, Any]:
    """The price in a tier, with its first step; empty where the table has none."""
    usual = _amounts(row, tier)
    if not {"input", "output"} <= usual.keys():
        return {}
    steps = sorted(int(found[1]) for key in row if (found := _STEP.fullmatch(key)))
    if steps:
        long = _amounts(row, f"_above_{steps[0]}k_tokens{tier}")
        if {"input", "output"} <= long.keys():
            usual["long"] = {"over": steps[0] * 1000, **long}
    return usual


def _amounts(row: Mapping[str, Any], end: str) -> dict[str, Any]:
    """The amounts in dollars for a million tokens whose names end with ``end``."""
    found = {kind: row.get(f"{name}{end}") for kind, name in _KINDS.items()}
    return {kind: round(amount * 1e6, 6) for kind, amount in found.items() if amount}
