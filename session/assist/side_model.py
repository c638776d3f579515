"""The model that side requests go to, and the fields of their requests."""

from __future__ import annotations

from dataclasses import replace

from session.models.catalogue import Catalogue, Model, Price
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.turn.money import dollars
from session.wire.protocol.fim import has_tokens
from session.wire.protocol.request import RequestProfile

THINKING_ROOM = 2_000
"""Tokens that an answer may have more, for thinking that cannot be turned off."""


def cheapest_fast(catalogue: Catalogue, provider: str) -> Model | None:
    """The cheapest of the provider's models for coding, which are its fast ones; the fastest where no price
    is known, None where the provider names none. Never one that only some accounts have."""
    every = (catalogue.model(name, provider) for name in catalogue.provider(provider).coding)
    models = [model for model in every if not model.preview]
    priced = [(model.price.cost(4_000, 3_000, 50), at) for at, model in enumerate(models) if model.price]
    return models[min(priced)[1]] if priced else next(iter(models), None)


def without_thinking(profile: RequestProfile, model: Model, dialect: str) -> tuple[RequestProfile, bool]:
    """``profile`` with the thinking of ``model`` turned off, and whether that can be done. It is made with
    the least effort of the model."""
    if not model.efforts and not model.thinking_off:
        return profile, True
    if dialect == "messages":
        if model.thinking == "always":
            return profile, False
        off = {"thinking": {"type": "disabled"}} if model.thinking == "adaptive" else {}
        return replace(profile, effort=None, extra={**profile.extra, **off}), True
    if profile.effort == "none":
        return profile, True
    if dialect == "chat" and model.thinking_off:
        return replace(profile, effort=None, extra={**profile.extra, **model.thinking_off}), True
    return profile, False


class SideModel:
    """The model of a session's side requests: the configured one, else the cheapest fast one of the provider,
    else the one that answers the session."""

    def __init__(self, opening: Opening, session: str, choice: ModelChoice) -> None:
        self._opening = opening
        self._session = session
        self._answering = choice
        self._refused: set[str] = set()
        self._made: ModelChoice | None = None
        self._dialect = opening.service.routes[0].dialect
        self._fim = opening.catalogue.provider(opening.settings.provider).fim

    @property
    def fim(self) -> str:
        """The provider's dialect that fills in the middle; empty where it has none that works for the
        model."""
        return "" if self._fim == "tokens" and not has_tokens(self.model.name) else self._fim

    @fim.setter
    def fim(self, dialect: str) -> None:
        self._fim = dialect

    def refused(self, name: str) -> None:
        """The key cannot use the model ``name``: ask the one that answers the session from now on."""
        self._refused.add(name)

    @property
    def model(self) -> Model:
        """The model that the next request goes to."""
        settings, catalogue = self._opening.settings, self._opening.catalogue
        row = catalogue.provider(settings.provider)
        wanted: Model | None = None
        if settings.side.model:
            wanted = catalogue.model(settings.side.model, settings.provider)
        elif self._opening.local is None and settings.base_url == row.base_url:
            # Elsewhere, nobody knows which of the provider's models are served.
            wanted = cheapest_fast(catalogue, settings.provider)
        if wanted is None or wanted.name in self._refused:
            return self._answering.model
        return wanted

    @property
    def price(self) -> Price | None:
        """Its price; None where that is unknown."""
        return self.model.price

    @property
    def fim_model(self) -> Model:
        """The model that fills in the middle: the provider's own for that, else the one that is asked."""
        provider = self._opening.settings.provider
        name = self._opening.catalogue.provider(provider).fim_model
        if self._opening.settings.side.model or not name:
            return self.model
        return self._opening.catalogue.model(name, provider)

    @property
    def plan(self) -> str:
        """The plan that pays for its requests; empty where a key does."""
        return self._answering.plan_title

    @property
    def priced(self) -> bool:
        """Whether its requests cost the user money: it has a price, and is not on this machine."""
        endpoint = self._opening.endpoint
        return self.price is not None and endpoint is not None and not endpoint.is_loopback

    @property
    def told(self) -> str:
        """The model and what one suggestion costs, in a few words."""
        cost = self.price.cost(4_000, 0, 50) if self.price is not None else 0.0
        return f"{self.model.name}, about {dollars(cost)} each"

    def price_of(self, name: str) -> Price | None:
        """The price of the model ``name``, if it is one that side requests go to."""
        return next((each.price for each in (self.model, self.fim_model) if each.name == name), None)

    def profile(self, instructions: str, *, name: str, most: int) -> RequestProfile:
        """A request's fields: no thinking, no tools, at most ``most`` tokens of output. ``name`` keeps the
        server's caches of different kinds of requests apart. A model whose thinking cannot be turned off has
        the least effort, and room for it."""
        model = self.model
        if self._made is None or self._made.model.name != model.name:
            made = ModelChoice(self._opening, self._session, Toolbox())
            made.choose(model=model)
            if model.efforts:
                made.choose(effort=model.efforts[0])
            made.tier = ""
            self._made = made
        profile, silent = without_thinking(self._made.profile(), model, self._dialect)
        most += 0 if silent else THINKING_ROOM
        return replace(
            profile,
            instructions=instructions,
            tools=(),
            summary=None,
            prompt_cache_key=f"{self._session}-{name}",
            include=(),
            max_output_tokens=most,
        )
