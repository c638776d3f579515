"""The model that answers a turn, as it was chosen when the turn began."""

from __future__ import annotations

from dataclasses import dataclass

from session.base.events import TurnStarted
from session.models.catalogue import Model
from session.models.prices import Price


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that answers one turn. ``effort`` is empty for a model without efforts."""

    model: Model
    effort: str
    effort_why: str | None
    """The reason for the effort that ``auto`` chose; None if the user chose it."""
    fast: bool
    price: Price | None
    """The price of the turn's tokens; None if it is unknown."""
    plan: str = ""
    """The plan that pays in place of dollars; empty for none."""

    def turn_started(self, session: str, turn: str, input_tokens: int) -> TurnStarted:
        """The event that a turn begins which this model answers."""
        return TurnStarted(
            session=session,
            turn=turn,
            model=self.model.name,
            effort=self.effort,
            input_tokens=input_tokens,
            budget=self.model.budget,
            effort_why=self.effort_why,
            fast=self.fast,
        )
