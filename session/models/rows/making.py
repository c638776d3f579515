"""Makes spark's rows: what a provider's models have in common, then the public table, then its own rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from session.base.text.tables import TableError
from session.models.rows.public_table import PublicTable, multiplied, values_of

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_OWN_KEYS = ("table", "why", "times", "tiers", "limit")
"""Keys of own rows and defaults that say how a row is made and are not in it."""


def names_in(own: Mapping[str, Any]) -> set[str]:
    """The names of the public table's rows that spark's ``own`` rows stand on."""
    return {row["table"] for row in own["models"].values() if "table" in row}


def made(own: Mapping[str, Any], table: PublicTable) -> dict[str, dict[str, Any]]:
    """spark's rows by their names. Raises TableError for a row that the table has not."""
    return {name: _row(name, row, own["defaults"], table) for name, row in own["models"].items()}


def _row(
    name: str, own: Mapping[str, Any], defaults: Mapping[str, Any], table: PublicTable
) -> dict[str, Any]:
    usual = defaults.get(own["provider"], {})
    public: dict[str, Any] = {}
    if "table" in own:
        if own["table"] not in table.rows:
            raise TableError(f'litellm {table.version} has no row {own["table"]!r}, on which "{name}" stands')
        public = {**values_of(table.rows[own["table"]], usual.get("tiers", ())), "checked": table.date[:7]}
    row = {**usual, **public, **own}
    limit = row.get("limit")
    if limit and "window" not in row:
        row["window"] = limit
    elif limit and limit < row["window"]:
        row.setdefault("input_limit", limit)
    if "output" in row:
        row["output_reserve"] = min(row["output_reserve"], row["output"])
    for key, times in own.get("times", {}).items():
        row[key] = multiplied(row["price"], times)
    return {key: row[key] for key in sorted(row) if key not in _OWN_KEYS}


def differences(before: Mapping[str, Any], after: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """One line for each value that differs, as in ``gpt-5.5 price.input: 5.0 -> 4.0``."""
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        path = f"{where}.{key}" if where and " " in where else f"{where} {key}" if where else key
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, path)
        elif old != new:
            yield f"{path}: {_said(old)} -> {_said(new)}"


def _said(value: Any) -> str:
    return "nothing" if value is None else _toml(value)


def as_toml(table: str, rows: Mapping[str, Mapping[str, Any]], head: str) -> str:
    """``rows`` as a TOML file of tables ``[table."NAME"]`` below the comment ``head``."""
    lines = [f"# {line}" for line in head.splitlines()]
    for name, row in rows.items():
        lines += ["", f"[{table}.{_key(name)}]", *(f"{_key(key)} = {_toml(row[key])}" for key in row)]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        return "{ " + ", ".join(f"{_key(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
