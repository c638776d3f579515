"""The model that side requests go to, and the fields of their requests."""

from __future__ import annotations

from dataclasses import replace

from session.models.catalogue import Catalogue, Model, Price
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.wire.protocol.fim import has_tokens
from session.wire.protocol.request import RequestProfile


def cheapest_fast(catalogue: Catalogue, provider: str) -> Model | None:
    """The cheapest of the provider's models for coding, which are its fast ones; the fastest where no price
    is known, None where the provider names none."""
    names = catalogue.provider(provider).coding
    models = [catalogue.model(name, provider) for name in names]
    priced = [(model.price.cost(4_000, 3_000, 50), at) for at, model in enumerate(models) if model.price]
    return models[min(priced)[1]] if priced else next(iter(models), None)


class SideModel:
    """The model of a session's side requests: the configured one, else the cheapest fast one of the provider,
    else the one that answers the session."""

    def __init__(self, opening: Opening, session: str, choice: ModelChoice) -> None:
        self._opening = opening
        self._session = session
        self._answering = choice
        self._refused: set[str] = set()
        self._made: ModelChoice | None = None
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

    def profile(self, instructions: str, *, name: str, most: int) -> RequestProfile:
        """A request's fields: the least effort, no tools, at most ``most`` tokens of output. ``name`` keeps
        the server's caches of different kinds of requests apart."""
        model = self.model
        if self._made is None or self._made.model.name != model.name:
            made = ModelChoice(self._opening, self._session, Toolbox())
            made.choose(model=model)
            if model.efforts:
                made.choose(effort=model.efforts[0])
            made.fast = False
            self._made = made
        profile = self._made.profile()
        return replace(
            profile,
            instructions=instructions,
            tools=(),
            summary=None,
            prompt_cache_key=f"{self._session}-{name}",
            include=(),
            max_output_tokens=most,
        )
