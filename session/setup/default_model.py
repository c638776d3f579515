"""What answers a user who named nothing: the first provider with a key, and the model that its key could use.

The session finds out which models a key can use (``session/setup/served_models.py``) and keeps the
result here for a week, by the server's address.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from session.base.storage.private_files import replace_private
from session.models.catalogue import Catalogue, Provider
from session.models.effort import nearest
from session.setup.config import Settings

FILE_NAME = "default-models.json"
KEPT_DAYS = 7


class DefaultModels:
    """The default model of each server, kept in one file of the state folder. A damaged file is no file."""

    def __init__(self, state: Path) -> None:
        self._file = state / FILE_NAME

    def kept(self, address: str, today: date) -> str | None:
        """The model that was chosen for the server at ``address`` in the last days."""
        row = self._rows().get(address)
        try:
            since = date.fromisoformat(row["day"]) if isinstance(row, dict) else date.min
            fresh = today - timedelta(days=KEPT_DAYS) < since <= today
            return str(row["model"]) if fresh and isinstance(row, dict) else None
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, address: str, model: str | None, today: date) -> None:
        """Keep ``model`` for ``address``; None forgets the one that is kept. Raises OSError."""
        rows = {name: row for name, row in self._rows().items() if name != address}
        if model is not None:
            rows[address] = {"model": model, "day": today.isoformat()}
        replace_private(self._file, json.dumps(rows, indent=1).encode())

    def _rows(self) -> dict[str, object]:
        try:
            rows = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return rows if isinstance(rows, dict) else {}


def with_provider_by_key(
    settings: Settings,
    catalogue: Catalogue,
    has_key: Callable[[Provider], bool],
    environ: Mapping[str, str],
) -> Settings:
    """``settings`` with the first provider of the catalogue's order that has a key, where none is named.

    Where the user named a model alone, a plan that serves it goes before the key. Without any key they stay
    as they are: what is missing is told then.
    """
    if settings.told_by_model:
        return _with_plan(settings, catalogue, has_key)
    if settings.provider_named:
        return _saying_who_pays(settings, catalogue, has_key)
    with_key = [name for name in catalogue.key_order if has_key(catalogue.provider(name))]
    if not with_key or with_key[0] == settings.provider:
        return settings
    provider = catalogue.provider(with_key[0])
    model = settings.model if settings.model_named else catalogue.default_model(provider.name)
    if provider.plan is not None:  # its words stand beside the model
        return replace(settings, provider=provider.name, model=model, base_url=provider.base_url)
    others = f"; {', '.join(with_key[1:])} would do too" if with_key[1:] else ""
    note = (
        f"No key of {settings.provider} was found, but one of {provider.name}: {model} answers"
        f"{others}. To choose another: --provider NAME, or provider = in config.toml"
    )
    efforts = catalogue.model(model, provider.name).efforts
    effort = settings.effort if settings.effort in ("auto", *efforts) else nearest(settings.effort, efforts)
    return replace(
        settings,
        effort=effort or settings.effort,
        provider=provider.name,
        model=model,
        base_url=provider.address(environ),
        notes=(*settings.notes, note),
    )


def _with_plan(settings: Settings, catalogue: Catalogue, has_key: Callable[[Provider], bool]) -> Settings:
    """``settings`` with a plan that is signed in to in place of the provider whose models it serves."""
    plan = _plan_in_place_of(settings, catalogue, has_key)
    return settings if plan is None else replace(settings, provider=plan.name, base_url=plan.base_url)


def _saying_who_pays(
    settings: Settings, catalogue: Catalogue, has_key: Callable[[Provider], bool]
) -> Settings:
    """``settings`` with a note where an address in the environment goes before a plan."""
    if not settings.told_by_variable:
        return settings
    plan = _plan_in_place_of(settings, catalogue, has_key)
    if plan is None or plan.plan is None:
        return settings
    note = (
        f"{settings.told_by_variable} leads to {settings.base_url}: what answers there is used, and not your "
        f"{plan.plan.title} plan. To use the plan: --provider {plan.name}"
    )
    return replace(settings, notes=(*settings.notes, note))


def _plan_in_place_of(
    settings: Settings, catalogue: Catalogue, has_key: Callable[[Provider], bool]
) -> Provider | None:
    """The plan that is signed in to and serves the models of the provider of ``settings``."""
    for provider in map(catalogue.provider, catalogue.key_order):
        if provider.plan is not None and provider.plan.models_of == settings.provider and has_key(provider):
            return provider
    return None


def served_at(settings: Settings, source: str) -> str:
    """The name under which a default model is kept: the server's address, and the plan of one account where
    ``source`` names it."""
    return f"{settings.base_url}, {source}" if source else settings.base_url
