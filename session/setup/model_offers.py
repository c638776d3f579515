"""The ways to start without a key: servers found on this machine, a login, practice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue
from session.models.discovery import LocalServer, find_servers
from session.models.engine.model import installed
from session.models.engine.model_hub import known_models
from session.models.engine.model_store import ModelStore
from session.models.engine.process import said_bytes
from session.setup.opening import Opening

_SCHEME = "https://"
_MOST_MODELS = 40
"""Most models of one server, or of the engine, that are offered."""


class OfferKind(StrEnum):
    """The kinds of offers, by what happens when the user takes one."""

    SERVER = "server"
    """Open again with this ``provider``, ``model`` and ``base_url``."""
    LOGIN = "login"
    """Store a key for ``provider``, then open again."""
    LOCAL = "local"
    """Open again with the embedded engine on the pulled model ``model``."""
    PULL = "pull"
    """Pull the model that the hub list knows as ``model``, then open again with it."""
    PRACTISE = "practise"
    """Open the sample project with the built-in partner."""
    MODEL = "model"
    """Send the prompt again, to ``model``."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to start: its title and detail for the user, and what to open with."""

    kind: OfferKind
    title: str
    detail: str
    provider: str = ""
    model: str = ""
    base_url: str = ""

    @property
    def asks(self) -> bool:
        """Whether something is asked in the terminal first. Keys typed before the question must not answer
        it."""
        return self.kind in (OfferKind.LOGIN, OfferKind.PULL)


async def find_offers(opening: Opening) -> tuple[Offer, ...]:
    """All offers, including the servers found on this machine."""
    here = await asyncio.to_thread(engine_offers)
    catalogue, name = opening.catalogue, opening.settings.provider
    plan = catalogue.provider(name).plan
    with_key = plan.models_of or name if plan is not None else name
    return offers(await find_servers(catalogue), with_key, here, plan_offers(catalogue), catalogue)


def plan_offers(catalogue: Catalogue) -> tuple[Offer, ...]:
    """The offers to sign in with a plan."""
    return tuple(
        Offer(OfferKind.LOGIN, f"Continue with {row.plan.title}", "the plan that you have, no key", row.name)
        for row in catalogue.providers.values()
        if row.plan is not None
    )


def engine_offers(environ: Mapping[str, str] = os.environ) -> tuple[Offer, ...]:
    """The offers of the embedded engine: pulled models, or one to pull. None if it is not installed."""
    if not installed():
        return ()
    models = [model for model in ModelStore(environ).models() if model.whole]
    if models:
        return tuple(
            Offer(
                OfferKind.LOCAL,
                clean_line(model.name),
                f"runs here, {said_bytes(model.size)}",
                model=model.name,
            )
            for model in models[:_MOST_MODELS]
        )
    first = known_models()[0]
    detail = f"{first.gigabytes} GB from the hub, then runs here"
    return (Offer(OfferKind.PULL, f"Pull {first.name}", detail, model=first.name),)


def offers(
    servers: Sequence[LocalServer],
    provider: str,
    here: Sequence[Offer] = (),
    plans: Sequence[Offer] = (),
    catalogue: Catalogue | None = None,
) -> tuple[Offer, ...]:
    """All offers in order: servers first, then models that run ``here``, then ``plans``, a key of
    ``provider``, which is the one whose key is missing, practice, a model to pull, and keys of the other
    providers of ``catalogue``.

    The first one is taken with Enter.
    """
    found = [
        Offer(OfferKind.SERVER, model, server.told, server.provider, model, server.base_url)
        for server in servers
        for model in server.models[:_MOST_MODELS]
    ]
    locked = [
        Offer(
            OfferKind.LOGIN,
            f"Log in to {server.provider}",
            f"{server.told} wants a key",
            server.provider,
            base_url=server.base_url,
        )
        for server in servers
        if server.wants_key
    ]
    return (
        *found,
        *(offer for offer in here if offer.kind is not OfferKind.PULL),
        *plans,
        *locked,
        _login(provider, catalogue),
        Offer(OfferKind.PRACTISE, "Practise first", "a sample project and the built-in partner, no key"),
        *(offer for offer in here if offer.kind is OfferKind.PULL),
        *(_login(name, catalogue) for name in _with_keys(catalogue) if name != provider),
    )


def _with_keys(catalogue: Catalogue | None) -> tuple[str, ...]:
    """The providers that are asked with a key, in the order in which one is looked for."""
    if catalogue is None:
        return ()
    return tuple(name for name in catalogue.key_order if catalogue.provider(name).plan is None)


def _login(provider: str, catalogue: Catalogue | None) -> Offer:
    """The offer to store a key of ``provider``, with the address at which one is made."""
    row = catalogue.providers.get(provider) if catalogue is not None else None
    page = f"key at {row.key_page.removeprefix(_SCHEME)}" if row is not None and row.key_page else ""
    return Offer(OfferKind.LOGIN, f"Log in to {provider}", page or "with a key that you have", provider)


async def with_hint(opening: Opening) -> Opening:
    """``opening`` with the servers found on this machine named in ``missing``, for front ends without
    offers."""
    if not opening.keyless:
        return opening
    found = hint(await find_servers(opening.catalogue), opening.catalogue)
    return replace(opening, missing=f"{opening.missing}; {found}") if found else opening


def hint(servers: Sequence[LocalServer], catalogue: Catalogue) -> str:
    """The servers as the end of a line about a missing key; empty for none."""
    told = [
        f"{server.told.replace(' on port ', ' answers on ')}: {server.flags(catalogue)}"
        for server in servers
        if server.models
    ]
    return "; ".join(told)
