"""The catalogue of providers and models, read from data.

What is assumed of models by the family that their name tells.

List prices, and what one request costs.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from session.base.text.tables import Table, TableError
from session.wire.protocol.dialects import FIM_NAMES, NAMES
from session.wire.protocol.request import Quirks
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Route, Service, Transport


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


_TRAITS = ("reasoning_field", "tools_as_item", "steer")
"""Keys that a model's own row has from its family too: they are about the maker and not about the model."""


@dataclass(frozen=True, slots=True)
class Families:
    """The rows of ``[[families]]``. A row's ``names`` are patterns with ``*``; they are compared with the
    last part of a name (``gpt-5.6`` of ``openai/gpt-5.6``) in lower case. The last row that fits counts."""

    rows: tuple[Mapping[str, Any], ...]

    def assumed(self, name: str) -> dict[str, Any]:
        """All that is assumed of a model without a row."""
        own = name.lower().rpartition("/")[2]
        values: dict[str, Any] = {}
        for row in self.rows:
            if any(fnmatchcase(own, pattern) for pattern in row["names"]):
                values |= {key: value for key, value in row.items() if key != "names"}
        return values

    def traits(self, name: str) -> dict[str, Any]:
        """What also holds for a model with a row, where that does not say otherwise."""
        return {key: value for key, value in self.assumed(name).items() if key in _TRAITS}


__all__ = ["EFFORTS", "Catalogue", "CatalogueError", "Model", "Price", "Provider", "load_catalogue"]

_LEAST_RESERVE = 16_000
"""Tokens of a window that stay free for the answer, where the model can write as many."""
_HOTTEST = 2
"""The highest temperature that servers take."""
_SMALL_WINDOW = 16_384
"""The largest window, in tokens, in which the long form of the instructions takes too much of the room."""
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
    fast_without_headers: tuple[str, ...] = ()
    """Prefixes of the models whose faster tier needs no headers."""
    conversation_header: str = ""
    """A header for the session's name, by which the server finds its cache; empty for none."""
    responses_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of every request in the Responses dialect."""
    tools_as_item: bool = False
    """Whether it takes tools as an item of the input, from the models that do."""
    steer: bool = False
    """Whether it takes a prompt in the middle of an answer, from the models that do."""
    freeform_tools: bool = True
    """Whether it accepts tools with free text as input, such as the V4A patch tool."""
    coding: tuple[str, ...] = ()
    """Models for coding, fastest first: the first one that the key can use is the default."""
    fim: str = ""
    """The dialect that fills in the middle: ``completions`` or ``infill``; empty for none."""
    brief: bool = False
    """Whether it is an engine for models at home, which get the short form of the instructions."""
    unlisted: bool = False
    """Whether it may serve models that it does not list, such as deployments."""
    service: Service = field(default_factory=Service)

    def has_fast(self, model: str) -> bool:
        """Whether ``model`` has a faster tier."""
        offered = bool(self.fast or self.fast_headers)
        return offered and (not self.fast_models or model.startswith(self.fast_models))

    def headers_for(self, model: str, session: str, *, fast: bool) -> dict[str, str]:
        """The headers of connections on which ``model`` answers ``session``."""
        headers = dict(self.headers)
        if self.conversation_header:
            headers[self.conversation_header] = session
        if fast and not model.startswith(self.fast_without_headers):
            headers |= self.fast_headers
        return headers


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
    reasoning_field: str = ""
    """The field in which a Chat server wants its reasoning back with its tool calls; empty for none."""
    tools_as_item: bool = False
    """Whether it takes its tools as an item of the input (Responses)."""
    steer: bool = False
    """Whether it takes a prompt in the middle of its answer (Responses over WebSocket)."""
    brief: bool = False
    """Whether it gets the short form of the instructions."""
    temperature: float | None = None
    """The temperature that is asked for; None for the server's own."""
    checked: str = ""
    """When the row was last checked against public documentation; empty for never."""

    @property
    def edits_are_calls(self) -> bool:
        """Whether it sends edits as calls of a tool, so that it is asked again with what came of them."""
        return self.edit_format == "v4a"

    @property
    def small(self) -> bool:
        """Whether it is a small model, or one with a small window: it is shown no map of the project."""
        return self.brief and (self.edit_format == "whole" or self.window <= _SMALL_WINDOW)

    @property
    def budget(self) -> int:
        """The most tokens of a request: the window without the part reserved for the answer."""
        return self.window - self.output_reserve

    def limited(self, window: int, output: int) -> Model:
        """This model with the limits that its server tells, in tokens; 0 where it tells none."""
        whole = window or self.window
        reserve = min(output or self.output_reserve, max(self.output_reserve, _LEAST_RESERVE), whole // 2)
        brief = self.brief or (whole <= _SMALL_WINDOW and not self.edits_are_calls)
        return replace(self, window=whole, output_reserve=max(1, reserve), brief=brief)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All known providers and models."""

    providers: Mapping[str, Provider]
    models: Mapping[str, Model]
    unknown_model: Mapping[str, Any]
    families: Families
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
        if served is None:
            return model
        as_text = model.edit_format == "v4a" and not served.freeform_tools
        written = "search-replace" if as_text else model.edit_format
        small = model.window <= _SMALL_WINDOW
        return replace(
            model,
            edit_format=written,
            brief=written != "v4a" and (model.brief or served.brief or small),
            tools_as_item=model.tools_as_item and served.tools_as_item,
            steer=model.steer and served.steer,
        )

    def _assumed(self, name: str, provider: str) -> Model:
        return _model(name, {"provider": provider, **self.unknown_model, **self.families.assumed(name)})


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
        fast_without_headers=row.texts("fast_without_headers"),
        conversation_header=row.text("conversation_header", ""),
        responses_body=row.table("responses_body"),
        tools_as_item=row.flag("tools_as_item", False),
        steer=row.flag("steer", False),
        freeform_tools=row.flag("freeform_tools", routes[0].dialect == "responses"),
        coding=row.texts("coding"),
        fim=row.choice("fim", ("", *FIM_NAMES), ""),
        brief=row.flag("brief", False),
        unlisted=row.flag("unlisted", False),
        service=Service(
            routes=tuple(routes),
            spare=row.flag("spare", False),
            warm_up=row.flag("warm_up", True),
            lifetime_seconds=row.seconds("lifetime_seconds"),
            idle_seconds=row.seconds("idle_seconds"),
            instructions_as_item=row.flag("instructions_as_item", True),
            compress=row.flag("compress", False),
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
        edit_format=row.choice("edit_format", ("v4a", "search-replace", "whole")),
        modalities=row.texts("modalities", ("text",)),
        tools=row.flag("tools", True),
        price=read_price(row, "price"),
        fast_price=read_price(row, "fast_price"),
        thinking=row.choice("thinking", ("budget", "adaptive", "always"), "budget"),
        reasoning_field=row.text("reasoning_field", ""),
        tools_as_item=row.flag("tools_as_item", False),
        steer=row.flag("steer", False),
        brief=row.flag("brief", False),
        temperature=_temperature(row),
        checked=row.text("checked", ""),
    )
    row.end()
    return model


def _temperature(row: Table) -> float | None:
    value = row.take("temperature")
    if value is None:
        return None
    if type(value) in (int, float) and 0 <= value <= _HOTTEST:
        return float(value)
    raise row.wrong(f"temperature must be a number from 0 to {_HOTTEST}")


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
    families = Families(tuple(builtin["families"]))
    model_rows = {name: {**families.traits(name), **row} for name, row in _table(builtin, "models").items()}
    unknown = _table(builtin, "unknown_model")
    for name, row in _table(extra, "models").items():
        base = model_rows.get(name) or {**unknown, **families.assumed(name)}
        model_rows[name] = {"provider": "openai", **base, **row} if isinstance(row, dict) else row
    return Catalogue(
        providers={name: _provider(name, row) for name, row in provider_rows.items()},
        models={name: _model(name, row) for name, row in model_rows.items()},
        unknown_model=unknown,
        families=families,
        key_order=tuple(builtin["key_order"]),
    )
