"""The plan of a race: what differs between its attempts, what judges them, and what it may take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from context.project.snapshot import ReadsProject
from session.checks.check import Check
from session.models.chosen import ChosenModel
from session.models.prices import Price
from session.turn.prepared import Prepares
from session.wire.protocol.request import RequestProfile


@dataclass(frozen=True, slots=True)
class RaceLimits:
    """The most that a race may take. Tokens are those of input and output, of all attempts together."""

    tokens: int | None = None
    cost: float | None = None
    """US dollars, where the price is known."""
    seconds: float | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.tokens:,} tokens" if self.tokens else "",
            f"${self.cost:,.2f}" if self.cost else "",
            f"{self.seconds / 60:g} minutes" if self.seconds else "",
        ]
        return ", ".join(part for part in parts if part)


class PreparesIn(Prepares, Protocol):
    """A preparation that can be had for the project with edits that are not written."""

    @property
    def project(self) -> ReadsProject:
        """The project that is shown."""
        ...

    def within(self, project: ReadsProject) -> Prepares:
        """The same preparation for ``project``."""
        ...


@dataclass(frozen=True, slots=True)
class Variation:
    """What one attempt asks, and of whom. ``hint`` follows the prompt; it may be empty."""

    chosen: ChosenModel
    profile: RequestProfile
    preparation: PreparesIn
    """Attempts with the same one share what is made by it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True, slots=True)
class RacePlan:
    """Everything that is decided before a race starts; ``checks`` are given cheapest first."""

    variations: Sequence[Variation]
    checks: Sequence[Check]
    limits: RaceLimits
    slots: int
    """The most checks that run at a time."""
    judge_all: bool = False
    rounds: int = 0
    """How often a red attempt answers again."""
    goals: bool = False
    """Whether the checks are to become green, whatever they were."""

    @property
    def asked(self) -> list[ChosenModel]:
        """The model that each attempt asks."""
        return [variation.chosen for variation in self.variations]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a race is likely to take. ``cost`` is None where a price is unknown."""

    tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", about ${self.cost:,.3f}"
        return f"about {self.tokens:,} tokens{cost}"


LIKELY_OUTPUT = 2_000
"""Output tokens that an answer is assumed to have."""
LIKELY_ROUNDS = 3
"""Requests after the first one of an attempt that are assumed: each round of tool calls is one."""


def estimate(asked: Iterable[ChosenModel], input_tokens: int, rounds: int = LIKELY_ROUNDS) -> Estimate:
    """The estimate for a race whose attempts ask these models, send ``input_tokens`` each, and are asked
    again after so many ``rounds`` of calls.

    A model that calls tools, or sends its edits as calls, is asked again with what came of them, and then its
    input is in the server's cache. It may be there after the first attempt as well; that is not counted on.
    """
    tokens, cost = 0, 0.0
    priced = True
    for chosen in asked:
        model, price = chosen.model, chosen.price
        again = rounds * input_tokens if model.tools or model.edits_are_calls else 0
        tokens += input_tokens + again + LIKELY_OUTPUT
        if price is None:
            priced = False
        else:
            cost += price.cost(input_tokens, 0, LIKELY_OUTPUT) + _again(price, input_tokens, again)
    return Estimate(tokens, cost if priced else None)


LIKELY_TOLD = 1_500
"""Tokens that what a check printed is assumed to have."""


def estimate_later(asked: Iterable[ChosenModel], input_tokens: int) -> Estimate:
    """The estimate for another answer of one attempt, the dearest: it sends all of the conversation again,
    of which the server has read the most."""
    tokens, cost = 0, 0.0
    priced = True
    for chosen in asked:
        model, price = chosen.model, chosen.price
        rounds = 1 + (LIKELY_ROUNDS if model.tools or model.edits_are_calls else 0)
        told = input_tokens + LIKELY_OUTPUT + LIKELY_TOLD
        tokens = max(tokens, rounds * told + LIKELY_OUTPUT)
        if price is None:
            priced = False
        else:
            again = (rounds - 1) * price.cost(told, told, 0)
            cost = max(cost, price.cost(told, input_tokens, LIKELY_OUTPUT) + again)
    return Estimate(tokens, cost if priced else None)


def _again(price: Price, input_tokens: int, again: int) -> float:
    """What the later requests of an attempt cost, whose input was read before."""
    return again / max(1, input_tokens) * price.cost(input_tokens, input_tokens, 0)
