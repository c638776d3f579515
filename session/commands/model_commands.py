"""The user's commands for the model: which one answers, its effort and its tier."""

from __future__ import annotations

import asyncio

from session.record.journal.recorder import Recorder
from session.setup.model_choice import ModelChoice
from session.setup.served_models import ServedModels
from session.turn.turns import Turns


class ModelCommands:
    """``Session.models``: the model, its effort and its tier. A choice holds from the next turn on."""

    def __init__(
        self,
        choice: ModelChoice,
        served: ServedModels,
        recorder: Recorder,
        turns: Turns,
    ) -> None:
        """``served`` are the models that can be chosen."""
        self._choice = choice
        self.served = served
        self._recorder = recorder
        self._turns = turns
        self._asking = asyncio.Lock()
        """Held while the server is asked about a model, so that of two choices the later one is used."""

    @property
    def model(self) -> str:
        """The name of the model that answers from the next turn on."""
        return self._choice.model.name

    @property
    def effort(self) -> str:
        """The chosen effort: one of the model's efforts, or ``auto``."""
        return self._choice.effort

    @property
    def efforts(self) -> tuple[str, ...]:
        """The efforts that can be chosen; none for a model without efforts."""
        return self._choice.efforts

    @property
    def fast(self) -> bool:
        """Whether the provider's faster tier is used, from the next turn on."""
        return self._choice.fast

    @property
    def tier(self) -> str:
        """The tier that is used from the next turn on; empty for the usual one."""
        return self._choice.tier

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers of the model, the usual one (empty) first."""
        return self._choice.tiers

    @property
    def plan(self) -> str:
        """The words for a plan that pays; empty where a key does."""
        return self._choice.plan

    @property
    def prices(self) -> str:
        """The prices of the coming turns, as a line for the user."""
        return self._choice.prices()

    @property
    def budget_tokens(self) -> int:
        """The most tokens of a request to the model; 0 where nobody told its window."""
        return self._choice.event().budget

    @property
    def window_tokens(self) -> int:
        """The model's context length, in tokens; 0 where nobody told it."""
        return self._choice.event().window

    async def choose_model(self, name: str) -> str:
        """Use another model of this provider from the next turn on.

        Returns lines for the user, empty if an event tells it all. The server is asked about a model that
        spark does not know.

        Raises ChoiceError for a model that is not available.
        """
        async with self._asking:
            model, found = await self.served.find(name)
            told = self._choice.choose(model=model)
        self._chosen()
        return "\n".join(filter(None, (found, told)))

    def next_tier(self) -> str:
        """Use the tier after the one in use; see :meth:`choose`."""
        return self.choose(tier=self._choice.next_tier())

    def choose(self, *, effort: str | None = None, tier: str | None = None) -> str:
        """Use another effort or tier from the next turn on. Returns a line for the user, perhaps empty.

        Raises ChoiceError for one that the model does not have.
        """
        told = self._choice.choose(effort=effort, tier=tier)
        self._chosen()
        return told

    def _chosen(self) -> None:
        self._turns.choice_changed()
        self._recorder.publish(self._choice.event())
