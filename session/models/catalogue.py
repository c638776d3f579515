"""The catalogue of providers and models, read from data."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from session.protocol.dialects import NAMES
from session.protocol.request import Quirks
from session.text.tables import Table, TableError
from session.transport.service import RESPONSES_OVER_WEBSOCKET, Route, Service, Transport

__all__ = ["EFFORTS", "Catalogue", "CatalogueError", "Model", "Price", "Provider", "load_catalogue"]

EFFORTS = ("low", "medium", "high", "xhigh", "auto")


class CatalogueError(ValueError):
    """The catalogue has no such provider; the message names those it has."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server, and the environment variables that hold its key and address."""

    name: str
    base_url: str
    key_variable: str
    base_url_variable: str = ""
    key_header: str = ""
    """The header that carries the key; empty for ``Authorization: Bearer``."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    fast: Mapping[str, Any] = field(default_factory=dict)
    """Extra request fields that select the faster tier; empty when there is none."""
    fast_headers: Mapping[str, str] = field(default_factory=dict)
    fast_models: tuple[str, ...] = ()
    """Prefixes of the models that have the faster tier; empty for all models."""
    freeform_tools: bool = True
    """Whether it accepts tools with free text as input, such as the V4A patch tool."""
    coding: tuple[str, ...] = ()
    """Models for coding, fastest first: the first one that the key can use is the default."""
    unlisted: bool = False
    """Whether it may serve models that it does not list, such as deployments."""
    service: Service = field(default_factory=Service)

    def has_fast(self, model: str) -> bool:
        """Whether ``model`` has a faster tier."""
        offered = bool(self.fast or self.fast_headers)
        return offered and (not self.fast_models or model.startswith(self.fast_models))


@dataclass(frozen=True, slots=True)
class Price:
    """List prices in US dollars for a million tokens; ``cached`` is for input read from a cache."""

    input: float
    cached: float
    output: float
    long: Price | None = None
    """The price of a whole request whose input is longer than ``long_over`` tokens."""
    long_over: int = 0

    def __str__(self) -> str:
        return f"${self.input:,.2f} in, ${self.cached:,.3g} cached, ${self.output:,.2f} out a million tokens"

    def cost(self, input_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """The cost of one request in dollars; ``cached_tokens`` are part of ``input_tokens``."""
        if self.long is not None and input_tokens > self.long_over:
            return self.long.cost(input_tokens, cached_tokens, output_tokens)
        fresh = max(0, input_tokens - cached_tokens)
        tokens = fresh * self.input + cached_tokens * self.cached + output_tokens * self.output
        return tokens / 1_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """A model's properties. ``window`` and ``output_reserve`` are in tokens."""

    name: str
    provider: str
    window: int
    output_reserve: int
    efforts: tuple[str, ...]
    edit_format: str
    modalities: tuple[str, ...] = ("text",)
    tools: bool = True
    """Whether it can call functions."""
    price: Price | None = None
    fast_price: Price | None = None
    """The price of the faster tier."""
    thinking: str = "budget"
    """How the Messages dialect sends the effort: as a thinking ``budget``, or in a field of its own where
    thinking is ``adaptive`` or ``always`` on."""
    checked: str = ""
    """When the row was last checked against public documentation; empty for never."""

    @property
    def budget(self) -> int:
        """The most tokens of a request: the window without the part reserved for the answer."""
        return self.window - self.output_reserve


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All known providers and models."""

    providers: Mapping[str, Provider]
    models: Mapping[str, Model]
    unknown_model: Mapping[str, Any]
    families: tuple[tuple[str, Mapping[str, Any]], ...]
    """What is assumed of an unknown model, by the beginning of its name; the last that fits counts."""
    key_order: tuple[str, ...] = ()
    """The providers that are looked for a key of, in this order, where none is named."""

    def provider(self, name: str) -> Provider:
        """The provider called ``name``. Raises CatalogueError, which lists the known ones."""
        if name not in self.providers:
            known = ", ".join(sorted(self.providers))
            raise CatalogueError(f"unknown provider {name!r}; known are {known}")
        return self.providers[name]

    def model(self, name: str, provider: str) -> Model:
        """The model called ``name`` as ``provider`` serves it; an unknown one gets cautious assumptions.

        Where the provider takes no freeform tools, every model writes its edits as text.
        """
        model = self.models.get(name) or self._assumed(name, provider)
        if model.provider != provider:  # the prices are another provider's
            model = replace(model, provider=provider, price=None, fast_price=None)
        served = self.providers.get(provider)
        if model.edit_format == "v4a" and served is not None and not served.freeform_tools:
            return replace(model, edit_format="search-replace")
        return model

    def _assumed(self, name: str, provider: str) -> Model:
        values = dict(self.unknown_model)
        for prefix, assumed in self.families:
            if name.startswith(prefix):
                values |= assumed
        return _model(name, {"provider": provider, **values})


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise TableError(f"[{key}] must be a table")
    return table


def _provider(name: str, values: Any) -> Provider:
    row = Table(f"[providers.{name}]", values)
    dialects = row.texts("dialects", ("responses", "chat"), NAMES)
    routes = [Route(Transport.SSE, dialect) for dialect in dialects]
    if row.flag("websocket", "responses" in dialects and "dialects" not in values):
        routes.insert(0, RESPONSES_OVER_WEBSOCKET)
    if not routes:
        raise row.wrong("needs at least one of dialects, or websocket")
    provider = Provider(
        name=name,
        base_url=row.text("base_url"),
        key_variable=row.text("key_variable", ""),
        base_url_variable=row.text("base_url_variable", ""),
        key_header=row.text("key_header", ""),
        headers=row.text_table("headers"),
        fast=row.table("fast"),
        fast_headers=row.text_table("fast_headers"),
        fast_models=row.texts("fast_models"),
        freeform_tools=row.flag("freeform_tools", routes[0].dialect == "responses"),
        coding=row.texts("coding"),
        unlisted=row.flag("unlisted", False),
        service=Service(
            routes=tuple(routes),
            spare=row.flag("spare", False),
            warm_up=row.flag("warm_up", True),
            lifetime_seconds=row.seconds("lifetime_seconds"),
            idle_seconds=row.seconds("idle_seconds"),
            quirks=Quirks(frozenset(row.texts("omit")), row.text_table("rename")),
        ),
    )
    row.end()
    return provider


def _model(name: str, values: Any) -> Model:
    row = Table(f'[models."{name}"]', values)
    window, reserve = (row.whole(key, least=1, unit="tokens") for key in ("window", "output_reserve"))
    if reserve >= window:
        raise row.wrong("output_reserve must be smaller than window")
    model = Model(
        name=name,
        provider=row.text("provider"),
        window=window,
        output_reserve=reserve,
        efforts=row.texts("efforts", EFFORTS[:-1]),
        edit_format=row.choice("edit_format", ("v4a", "search-replace")),
        modalities=row.texts("modalities", ("text",)),
        tools=row.flag("tools", True),
        price=_price(row, "price"),
        fast_price=_price(row, "fast_price"),
        thinking=row.choice("thinking", ("budget", "adaptive", "always"), "budget"),
        checked=row.text("checked", ""),
    )
    row.end()
    return model


def _price(row: Table, key: str) -> Price | None:
    values = dict(row.table(key))
    if not values:
        return None
    long = values.pop("long", None)
    price = _amounts(row, key, values, ("input", "cached", "output"))
    usual = Price(price["input"], price["cached"], price["output"])
    if long is None:
        return usual
    where = f"{key}.long"
    if not isinstance(long, dict):
        raise row.wrong(f"{where} must be a table")
    amounts = _amounts(row, where, long, ("over", "input", "cached", "output"))
    costly = Price(amounts["input"], amounts["cached"], amounts["output"])
    return replace(usual, long=costly, long_over=int(amounts["over"]))


def _amounts(row: Table, key: str, values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    """The amounts under ``names``; without a price of its own, cached input costs what other input does."""
    given = {"cached": values.get("input"), **values}
    if set(given) != set(names) or not all(
        type(value) in (int, float) and value >= 0 and math.isfinite(value) for value in given.values()
    ):
        over = "over (tokens of input), " if "over" in names else ""
        raise row.wrong(
            f"{key} must hold {over}input, output and, where it is less than input, cached, "
            "in dollars for a million tokens"
        )
    return given


@cache
def _builtin() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))


def load_catalogue(additions: Mapping[str, Any] | None = None) -> Catalogue:
    """The built-in catalogue with the user's ``[providers.*]`` and ``[models.*]`` rows merged into it.

    Raises TableError for a row that cannot be used.
    """
    builtin = _builtin()
    extra = additions or {}
    provider_rows = dict(_table(builtin, "providers"))
    for name, row in _table(extra, "providers").items():
        base = provider_rows.get(name, {"unlisted": True})
        provider_rows[name] = {**base, **row} if isinstance(row, dict) else row
    model_rows = dict(_table(builtin, "models"))
    unknown = _table(builtin, "unknown_model")
    for name, row in _table(extra, "models").items():
        base = model_rows.get(name, unknown)
        model_rows[name] = {"provider": "openai", **base, **row} if isinstance(row, dict) else row
    return Catalogue(
        providers={name: _provider(name, row) for name, row in provider_rows.items()},
        models={name: _model(name, row) for name, row in model_rows.items()},
        unknown_model=unknown,
        families=tuple(
            (row["prefix"], {key: value for key, value in row.items() if key != "prefix"})
            for row in builtin["families"]
        ),
        key_order=tuple(builtin["key_order"]),
    )
