"""The catalogue of providers and models, read from data, and what is assumed of models by their family.

``catalogue.toml`` holds the providers and the families. ``models.toml`` holds the models; the command
``python3 -m session.models.rows`` makes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from session.base.text.tables import Table, TableError
from session.models.prices import Price, read_price
from session.models.sign_in.plan import Plan, read_plan
from session.wire.protocol.dialects import FIM_NAMES, NAMES
from session.wire.protocol.request import Quirks
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Route, Service, Transport

_TRAITS = ("reasoning_field", "tools_as_item", "steer", "effort_items", "thinking_off", "token_ratio")
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
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "auto")
"""All efforts that can be asked for by name, the least first; each model has some of them."""
_USUAL_EFFORTS = ("low", "medium", "high", "xhigh")
FAST, ULTRAFAST = "fast", "ultrafast"
"""The faster tiers."""
_STEP_MARGIN = 0.98
"""The share of a price's first step that a request may fill, since servers count a little more."""
_HOTTEST = 2
"""The highest temperature that servers take."""
_SMALL_WINDOW = 16_384
"""The largest window, in tokens, in which the long form of the instructions takes too much of the room."""


class CatalogueError(ValueError):
    """The catalogue has no such provider; the message names those it has."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server, and the environment variables that hold its key and address."""

    name: str
    base_url: str
    key_variable: str
    base_url_variable: str = ""
    key_page: str = ""
    """The address at which a key is made."""
    key_header: str = ""
    """The header that carries the key; empty for ``Authorization: Bearer``."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    fast: Mapping[str, Any] = field(default_factory=dict)
    """Extra request fields that select the faster tier; empty when there is none."""
    ultrafast: Mapping[str, Any] = field(default_factory=dict)
    """Extra request fields that select the fastest tier, which models with an ``ultrafast_price`` have."""
    fast_headers: Mapping[str, str] = field(default_factory=dict)
    fast_models: tuple[str, ...] = ()
    """Prefixes of the models that have the faster tier; empty for all models."""
    fast_without_headers: tuple[str, ...] = ()
    """Prefixes of the models whose faster tier needs no headers."""
    conversation_header: str = ""
    """A header for the session's name, by which the server finds its cache; empty for none."""
    responses_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of every request in the Responses dialect."""
    chat_body: Mapping[str, Any] = field(default_factory=dict)
    """More fields of every request in the Chat dialect."""
    tools_as_item: bool = False
    """Whether it takes tools as an item of the input, from the models that do."""
    steer: bool = False
    """Whether it takes a prompt in the middle of an answer, from the models that do."""
    effort_items: bool = False
    """Whether it takes another effort as an item of a conversation, from the models that do."""
    effort_headers: Mapping[str, str] = field(default_factory=dict)
    """The headers that such items need."""
    freeform_tools: bool = True
    """Whether it accepts tools with free text as input, such as the V4A patch tool."""
    coding: tuple[str, ...] = ()
    """Models for coding, fastest first: the first one that the key can use is the default."""
    fim: str = ""
    """The dialect that fills in the middle (``session/wire/protocol/fim.py``); empty for none."""
    fim_model: str = ""
    """The model that fills in the middle; empty for the one that suggestions are asked of."""
    brief: bool = False
    """Whether it is an engine for models at home, which get the short form of the instructions."""
    unlisted: bool = False
    """Whether it may serve models that it does not list, such as deployments."""
    plan: Plan | None = None
    """The plan that is signed in to; None for a provider with keys."""
    tool_field: bool = True
    """Whether it takes tools in a field of the request; else every model's are an item of the input."""
    service: Service = field(default_factory=Service)

    def address(self, environ: Mapping[str, str]) -> str:
        """Its address: the one in its variable, if that is set, else the row's."""
        return environ.get(self.base_url_variable, "") or self.base_url

    def has_fast(self, model: str) -> bool:
        """Whether ``model`` has a faster tier."""
        offered = bool(self.fast or self.fast_headers)
        return offered and (not self.fast_models or model.startswith(self.fast_models))

    def tier_fields(self, tier: str) -> Mapping[str, Any]:
        """The request fields that select ``tier``; none for the usual one."""
        return {FAST: self.fast, ULTRAFAST: self.ultrafast}.get(tier, {})

    def tiers(self, model: Model) -> tuple[str, ...]:
        """The tiers in which ``model`` can be asked: the usual one, which is empty, then the faster ones."""
        faster = (FAST,) if self.has_fast(model.name) else ()
        fastest = (ULTRAFAST,) if self.ultrafast and model.ultrafast_price is not None else ()
        return ("", *faster, *fastest)

    def headers_for(self, model: Model, session: str, *, fast: bool) -> dict[str, str]:
        """The headers of connections on which ``model`` answers ``session``."""
        headers = dict(self.headers)
        if self.conversation_header:
            headers[self.conversation_header] = session
        for more, wanted in (
            (self.effort_headers, model.effort_items),
            (self.fast_headers, fast and not model.name.startswith(self.fast_without_headers)),
        ):
            for name, value in more.items() if wanted else ():
                headers[name] = f"{headers[name]},{value}" if name in headers else value
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
    window_assumed: bool = False
    """Whether nobody told its window: it is never shown then."""
    modalities: tuple[str, ...] = ("text",)
    tools: bool = True
    """Whether it can call functions."""
    price: Price | None = None
    fast_price: Price | None = None
    """The price of the faster tier."""
    ultrafast_price: Price | None = None
    """The price of the fastest tier; only models with one have that tier."""
    output: int = 0
    """The most tokens of one answer; 0 where that is unknown."""
    input_limit: int = 0
    """The most tokens of input that its server takes; 0 where the window alone limits them."""
    token_ratio: float = 1.0
    """The tokens that its server counts for one that spark counts (o200k)."""
    ends: str = ""
    """The day on which it is shut down, as in ``2027-04-01``; empty where none is known."""
    preview: bool = False
    """Whether only some accounts have it: it answers by default only where the account lists it."""
    thinking_off: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a Chat request that turn its thinking off, where no effort does."""
    thinking: str = "budget"
    """How the Messages dialect sends the effort: as a thinking ``budget``, or in a field of its own where
    thinking is ``adaptive`` or ``always`` on."""
    reasoning_field: str = ""
    """The field in which a Chat server wants its reasoning back with its tool calls; empty for none."""
    tools_as_item: bool = False
    """Whether it takes its tools as an item of the input (Responses)."""
    steer: bool = False
    """Whether it takes a prompt in the middle of its answer (Responses over WebSocket)."""
    effort_items: bool = False
    """Whether it takes another effort as an item of a conversation (Responses and Messages)."""
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
        """The most tokens of a request, as spark counts them: what the window leaves beside the answer,
        within the limit of the input and below the first step of the price."""
        most = self.window - self.output_reserve
        if self.input_limit:
            most = min(most, self.input_limit)
        if self.price is not None and self.price.long is not None:
            most = min(most, int(self.price.long_over * _STEP_MARGIN))
        return max(1, int(most / self.token_ratio))

    def price_of(self, tier: str) -> Price | None:
        """The price in ``tier``, empty for the usual one; None if it is unknown."""
        return {"": self.price, FAST: self.fast_price, ULTRAFAST: self.ultrafast_price}.get(tier)

    def limited(self, window: int, output: int) -> Model:
        """This model with the limits that its server tells, in tokens; 0 where it tells none."""
        whole = window or self.window
        reserve = min(output or self.output_reserve, max(self.output_reserve, _LEAST_RESERVE), whole // 2)
        brief = self.brief or (whole <= _SMALL_WINDOW and not self.edits_are_calls)
        assumed = self.window_assumed and not window
        reserve = max(1, reserve)
        return replace(self, window=whole, window_assumed=assumed, output_reserve=reserve, brief=brief)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All known providers and models."""

    providers: Mapping[str, Provider]
    models: Mapping[str, Model]
    unknown_model: Mapping[str, Any]
    families: Families
    ratios: Mapping[str, float] = field(default_factory=dict)
    """The token ratios that were measured, by ``PROVIDER/MODEL``: they count before those of the rows."""
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
        model = self.row(name, provider) or self._assumed(name, provider)
        if model.provider != provider:  # the prices are another provider's
            model = replace(model, provider=provider, price=None, fast_price=None, ultrafast_price=None)
        ratio = self.ratios.get(f"{provider}/{name}")
        model = replace(model, token_ratio=ratio) if ratio is not None else model
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
            tools_as_item=(model.tools_as_item and served.tools_as_item) or not served.tool_field,
            steer=model.steer and served.steer,
            effort_items=model.effort_items and served.effort_items,
        )

    def row(self, name: str, provider: str) -> Model | None:
        """The row of the model called ``name``: the provider's own, or another's of that name, or None."""
        own = self.models.get(f"{provider}/{name}")
        if own is not None and (own.name, own.provider) == (name, provider):
            return own
        return self.models.get(name)

    def default_model(self, provider: str) -> str:
        """The first of the provider's models for coding that every account may have; empty for none."""
        names = self.provider(provider).coding
        return next((name for name in names if not self.model(name, provider).preview), "")

    def ranked(self, provider: str) -> tuple[str, ...]:
        """The provider's models that may answer by default, the best choice first: those for coding, then its
        other rows that call functions."""
        others = (row.name for row in self.models.values() if row.provider == provider and row.tools)
        return tuple(dict.fromkeys((*self.provider(provider).coding, *others)))

    def _assumed(self, name: str, provider: str) -> Model:
        known = self.families.assumed(name)
        model = _model(name, {"provider": provider, **self.unknown_model, **known})
        return replace(model, window_assumed="window" not in known)


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
        key_page=row.text("key_page", ""),
        key_header=row.text("key_header", ""),
        headers=row.text_table("headers"),
        fast=row.table("fast"),
        ultrafast=row.table("ultrafast"),
        fast_headers=row.text_table("fast_headers"),
        fast_models=row.texts("fast_models"),
        fast_without_headers=row.texts("fast_without_headers"),
        conversation_header=row.text("conversation_header", ""),
        responses_body=row.table("responses_body"),
        chat_body=row.table("chat_body"),
        tools_as_item=row.flag("tools_as_item", False),
        steer=row.flag("steer", False),
        effort_items=row.flag("effort_items", False),
        effort_headers=row.text_table("effort_headers"),
        freeform_tools=row.flag("freeform_tools", routes[0].dialect == "responses"),
        coding=row.texts("coding"),
        fim=row.choice("fim", ("", *FIM_NAMES), ""),
        fim_model=row.text("fim_model", ""),
        brief=row.flag("brief", False),
        unlisted=row.flag("unlisted", False),
        plan=read_plan(row.inner("plan")),
        tool_field=row.flag("tool_field", True),
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
        name=row.text("name", name),
        provider=row.text("provider"),
        window=window,
        output_reserve=reserve,
        efforts=row.texts("efforts", _USUAL_EFFORTS),
        edit_format=row.choice("edit_format", ("v4a", "search-replace", "whole")),
        modalities=row.texts("modalities", ("text",)),
        tools=row.flag("tools", True),
        price=read_price(row, "price"),
        fast_price=read_price(row, "fast_price"),
        ultrafast_price=read_price(row, "ultrafast_price"),
        input_limit=row.whole("input_limit", 0, least=0, unit="tokens"),
        output=row.whole("output", 0, least=0, unit="tokens"),
        token_ratio=row.number("token_ratio", 1.0, least=0.1, most=10),
        ends=row.text("ends", ""),
        preview=row.flag("preview", False),
        thinking_off=row.table("thinking_off"),
        thinking=row.choice("thinking", ("budget", "adaptive", "always"), "budget"),
        reasoning_field=row.text("reasoning_field", ""),
        tools_as_item=row.flag("tools_as_item", False),
        steer=row.flag("steer", False),
        effort_items=row.flag("effort_items", False),
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
def _rows() -> Mapping[str, Any]:
    return {
        name: table
        for file in ("catalogue.toml", "models.toml")
        for name, table in tomllib.loads(Path(__file__).with_name(file).read_text("utf-8")).items()
    }


@cache
def _builtin() -> Catalogue:
    rows = _rows()
    families = Families(tuple(rows["families"]))
    models = {name: {**families.traits(name), **row} for name, row in _table(rows, "models").items()}
    return Catalogue(
        providers={name: _provider(name, row) for name, row in _table(rows, "providers").items()},
        models={name: _model(name, row) for name, row in models.items()},
        unknown_model=_table(rows, "unknown_model"),
        families=families,
        key_order=tuple(rows["key_order"]),
    )


def load_catalogue(additions: Mapping[str, Any] | None = None) -> Catalogue:
    """The built-in catalogue with the user's ``[providers.*]`` and ``[models.*]`` rows merged into it.

    Raises TableError for a row that cannot be used.
    """
    builtin, rows, extra = _builtin(), _rows(), additions or {}
    providers, models, families = dict(builtin.providers), dict(builtin.models), builtin.families
    for name, row in _table(extra, "providers").items():
        base = rows["providers"].get(name, {"unlisted": True})
        providers[name] = _provider(name, {**base, **row} if isinstance(row, dict) else row)
    for name, row in _table(extra, "models").items():
        known = rows["models"].get(name)
        base = (
            {**families.traits(name), **known}
            if known
            else {**builtin.unknown_model, **families.assumed(name)}
        )
        models[name] = _model(name, {"provider": "openai", **base, **row} if isinstance(row, dict) else row)
    return replace(builtin, providers=providers, models=models)
