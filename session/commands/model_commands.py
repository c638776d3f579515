"""What a session offers about who answers: its model, effort and tier, and choosing others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from session.events import Event
from session.model_choice.choice import Choosing
from session.model_choice.served_models import ServedModels


class ModelCommands:
    """The part of a session that chooses the model; what is chosen holds from the next turn on.

    ``served`` are the models that can be chosen; ``chosen`` is called when the requests to come are others.
    """

    def __init__(
        self,
        choice: Choosing,
        served: ServedModels,
        send: Callable[[Event], None],
        chosen: Callable[[], None],
    ) -> None:
        self._choice = choice
        self.served = served
        self._say_chosen = send
        self._on_chosen = chosen
        self._asking = asyncio.Lock()
        """Held while a server is asked: of two models the one that was named last is used."""

    @property
    def model(self) -> str:
        """The model that answers, from the next turn on."""
        return self._choice.model.name

    @property
    def effort(self) -> str:
        """How long it may think, as chosen: one of the model's efforts, or ``auto``."""
        return self._choice.effort

    @property
    def efforts(self) -> tuple[str, ...]:
        """What can be chosen as effort; nothing for a model that has none."""
        return self._choice.efforts

    @property
    def fast(self) -> bool:
        """Whether the provider's faster tier is used, from the next turn on."""
        return self._choice.fast

    @property
    def prices(self) -> str:
        """What the costs of the turns to come are reckoned by, as a line for the person."""
        return self._choice.prices()

    @property
    def window_tokens(self) -> int:
        """The model's context length, in tokens."""
        return self._choice.model.window

    async def choose_model(self, name: str) -> str:
        """Use another model of this provider from the next turn on; returns lines for the person, empty where
        the event tells it all. The server is asked for a model that spark does not know.

        Raises ChoiceError for one that cannot be had.
        """
        async with self._asking:
            model, said = await self.served.find(name)
            told = self._choice.choose(model=model)
        self._chose()
        return "\n".join(filter(None, (said, told)))

    def choose(self, *, effort: str | None = None, fast: bool | None = None) -> str:
        """The same for another effort or another tier, of which the catalogue alone can tell."""
        told = self._choice.choose(effort=effort, fast=fast)
        self._chose()
        return told

    def _chose(self) -> None:
        self._on_chosen()
        self._say_chosen(self._choice.told())
