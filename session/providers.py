"""Who serves and what runs: the catalogue of providers and models, read from data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

EFFORTS = ("low", "medium", "high", "xhigh", "auto")


class CatalogueError(ValueError):
    """A row of the catalogue, or of the user's additions to it, cannot be used."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A server that speaks one of our dialects, and the variables that name its key and address."""

    name: str
    base_url: str
    key_variable: str
    base_url_variable: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """What spark must know of a model. ``window`` and ``output_reserve`` are in tokens."""

    name: str
    provider: str
    window: int
    output_reserve: int
    efforts: tuple[str, ...]
    edit_format: str

    @property
    def budget(self) -> int:
        """Tokens that a request may take: the window less the room kept for the answer."""
        return self.window - self.output_reserve


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All known providers and models."""

    providers: Mapping[str, Provider]
    models: Mapping[str, Model]
    unknown_model: Mapping[str, Any]
    families: tuple[tuple[str, str], ...]

    def provider(self, name: str) -> Provider:
        """The provider called ``name``; raises CatalogueError naming the known ones."""
        if name not in self.providers:
            known = ", ".join(sorted(self.providers))
            raise CatalogueError(f"unknown provider {name!r}; known are {known}")
        return self.providers[name]

    def model(self, name: str, provider: str) -> Model:
        """The model called ``name``; one that no row names gets cautious assumptions."""
        if name in self.models:
            return self.models[name]
        values = dict(self.unknown_model)
        for prefix, edit_format in self.families:
            if name.startswith(prefix):
                values["edit_format"] = edit_format
        return _model(name, {"provider": provider, **values})


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise CatalogueError(f"[{key}] must be a table")
    return table


def _provider(name: str, row: Any) -> Provider:
    if not isinstance(row, dict) or not isinstance(row.get("base_url"), str):
        raise CatalogueError(f"[providers.{name}] needs base_url, a string")
    texts = {key: row.get(key, "") for key in ("key_variable", "base_url_variable")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise CatalogueError(f"[providers.{name}] {key} must be a string")
    return Provider(name=name, base_url=row["base_url"], **texts)


def _model(name: str, row: Any) -> Model:
    where = f'[models."{name}"]'
    if not isinstance(row, dict):
        raise CatalogueError(f"{where} must be a table")
    for key in ("window", "output_reserve"):
        if type(row.get(key)) is not int or row[key] <= 0:
            raise CatalogueError(f"{where} {key} must be a whole number of tokens above 0")
    if row["output_reserve"] >= row["window"]:
        raise CatalogueError(f"{where} output_reserve must be smaller than window")
    efforts = row.get("efforts", list(EFFORTS[:-1]))
    if not isinstance(efforts, list) or not all(isinstance(effort, str) for effort in efforts):
        raise CatalogueError(f"{where} efforts must be a list of strings")
    if row.get("edit_format") not in ("v4a", "search-replace"):
        raise CatalogueError(f"{where} edit_format must be 'v4a' or 'search-replace'")
    if not isinstance(row.get("provider"), str):
        raise CatalogueError(f"{where} provider must be a string")
    return Model(
        name=name,
        provider=row["provider"],
        window=row["window"],
        output_reserve=row["output_reserve"],
        efforts=tuple(efforts),
        edit_format=row["edit_format"],
    )


@cache
def _builtin() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("session").joinpath("catalogue.toml").read_text("utf-8"))


def load_catalogue(additions: Mapping[str, Any] | None = None) -> Catalogue:
    """The built-in catalogue with the user's ``[providers.*]`` and ``[models.*]`` rows laid over it.

    Raises CatalogueError for a row that cannot be used.
    """
    builtin = _builtin()
    extra = additions or {}
    provider_rows = dict(_table(builtin, "providers"))
    for name, row in _table(extra, "providers").items():
        provider_rows[name] = {**provider_rows.get(name, {}), **row} if isinstance(row, dict) else row
    model_rows = dict(_table(builtin, "models"))
    unknown = _table(builtin, "unknown_model")
    for name, row in _table(extra, "models").items():
        base = model_rows.get(name, unknown)
        model_rows[name] = {"provider": "openai", **base, **row} if isinstance(row, dict) else row
    return Catalogue(
        providers={name: _provider(name, row) for name, row in provider_rows.items()},
        models={name: _model(name, row) for name, row in model_rows.items()},
        unknown_model=unknown,
        families=tuple((row["prefix"], row["edit_format"]) for row in builtin["families"]),
    )
