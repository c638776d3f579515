"""What somebody without a key can begin with: servers found on this machine, a login, practice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from session.discovery import LocalServer, find_servers
from session.opening import Opening
from session.providers import Catalogue

_MOST_MODELS = 40


class OfferKind(StrEnum):
    """What taking an offer means."""

    SERVER = "server"
    """Open again with this ``provider``, ``model`` and ``base_url``."""
    LOGIN = "login"
    """Store a key for ``provider``, then open again."""
    PRACTISE = "practise"
    """The sample project with the built-in partner."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One of them: a title to choose by, what stands beside it, and what to open with."""

    kind: OfferKind
    title: str
    detail: str
    provider: str = ""
    model: str = ""
    base_url: str = ""


async def find_offers(opening: Opening) -> tuple[Offer, ...]:
    """Look around on this machine, and give all that can be begun with."""
    return offers(await find_servers(opening.catalogue), opening.settings.provider)


def offers(servers: Sequence[LocalServer], provider: str) -> tuple[Offer, ...]:
    """All that can be begun with, servers first; ``provider`` is the one whose key is missing."""
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
        *locked,
        Offer(OfferKind.LOGIN, f"Log in to {provider}", "with a key that you have", provider),
        Offer(OfferKind.PRACTISE, "Practise first", "a sample project and the built-in partner, no key"),
    )


async def with_hint(opening: Opening) -> Opening:
    """``opening``, what it is missing told with the servers found on this machine, for front ends that
    offer nothing."""
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
