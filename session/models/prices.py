"""List prices, and what one request costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from session.base.text.tables import Table


@dataclass(frozen=True, slots=True)
class Price:
    """List prices in US dollars for a million tokens; ``cached`` is for input read from a cache."""

    input: float
    cached: float
    output: float
    written: float | None = None
    """The price of input that the server writes to a cache; None where that costs what other input does."""
    long: Price | None = None
    """The price of a whole request whose input is longer than ``long_over`` tokens."""
    long_over: int = 0

    def __str__(self) -> str:
        return f"${self.input:,.2f} in, ${self.cached:,.3g} cached, ${self.output:,.2f} out a million tokens"

    def cost(
        self, input_tokens: int, cached_tokens: int, output_tokens: int, written_tokens: int = 0
    ) -> float:
        """The cost of one request in dollars. ``cached_tokens`` and ``written_tokens`` are parts of
        ``input_tokens``: read from a cache, and written to one."""
        if self.long is not None and input_tokens > self.long_over:
            return self.long.cost(input_tokens, cached_tokens, output_tokens, written_tokens)
        fresh = max(0, input_tokens - cached_tokens - written_tokens)
        tokens = fresh * self.input + cached_tokens * self.cached + output_tokens * self.output
        tokens += written_tokens * (self.input if self.written is None else self.written)
        return tokens / 1_000_000


def read_price(row: Table, key: str) -> Price | None:
    """The price under ``key`` of a model's row; None where there is none. Raises TableError."""
    values = dict(row.table(key))
    if not values:
        return None
    long = values.pop("long", None)
    usual = _price(_amounts(row, key, values))
    if long is None:
        return usual
    where = f"{key}.long"
    if not isinstance(long, dict):
        raise row.wrong(f"{where} must be a table")
    amounts = _amounts(row, where, long, over=True)
    return replace(usual, long=_price(amounts), long_over=int(amounts["over"]))


def _price(amounts: Mapping[str, float]) -> Price:
    cached = amounts.get("cached", amounts["input"])
    return Price(amounts["input"], cached, amounts["output"], amounts.get("written"))


def _amounts(row: Table, key: str, values: Mapping[str, Any], *, over: bool = False) -> dict[str, float]:
    """The amounts in ``values``, checked."""
    needed = {"input", "output", "over"} if over else {"input", "output"}
    if not (needed <= set(values) <= needed | {"cached", "written"}) or not all(
        type(value) in (int, float) and value >= 0 and math.isfinite(value) for value in values.values()
    ):
        more = "over (tokens of input), " if over else ""
        raise row.wrong(
            f"{key} must hold {more}input, output and, where they differ from input, cached and written, "
            "in dollars for a million tokens"
        )
    return dict(values)
