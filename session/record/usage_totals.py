"""Adds up a session's usage events, by turn and in total.

Estimated tokens are also added up apart, so they stay recognisable. An unknown price is never 0: turns
without a price are counted, so that the cost can say how many it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from session.base.events import Event, Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and dollars of some turns. ``cached`` is part of ``input``, ``reasoning`` part of ``output``;
    ``estimated`` is how many of the tokens are estimates. ``cost`` leaves out the ``unpriced`` turns."""

    turns: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.turns + other.turns,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.estimated + other.estimated,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )

    @property
    def known_cost(self) -> float | None:
        """The cost in dollars; None if no turn's price is known."""
        return self.cost if self.turns > self.unpriced else None


def spent(usage: Usage) -> Spent:
    """One turn's figures."""
    tokens = usage.input_tokens + usage.output_tokens
    return Spent(
        turns=1,
        input=usage.input_tokens,
        cached=usage.cached_tokens,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens,
        estimated=tokens if usage.estimated else 0,
        cost=usage.cost or 0.0,
        unpriced=int(usage.cost is None),
    )


def total(usages: Iterable[Usage]) -> Spent:
    """All turns together."""
    return sum(map(spent, usages), Spent())


class UsageFold:
    """The turns of one session; ``turns`` holds the latest figures of each."""

    def __init__(self) -> None:
        self.turns: dict[str, Usage] = {}

    def take(self, event: Event) -> None:
        """Add ``event``: a turn's later figures replace its earlier ones."""
        if isinstance(event, Usage):
            self.turns[event.turn] = event

    @property
    def total(self) -> Spent:
        """All turns together."""
        return total(self.turns.values())
