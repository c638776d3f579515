"""What differs between the attempts of a race: model, effort, temperature, and a hint of approach."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from session.race.plan import Estimate, Variation, estimate, estimate_later
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.setup.user_tables import AttemptSettings
from session.tools.toolbox import Toolbox
from session.turn.preparation import Preparation, Preparations

T = TypeVar("T")
FIRST_WINDOW = 25_000
"""Input tokens that a first request is assumed to have before its window is made."""


def likely(opening: Opening, attempts: int) -> tuple[Estimate, Estimate, Estimate]:
    """What a race of so many attempts in this project is likely to take, before anything is known of its
    prompt: where no attempt calls a tool, and where each does; and what each further answer of one is. Raises
    ChoiceError."""
    settings, toolbox = opening.settings.attempts, Toolbox()
    choice = ModelChoice(opening, "", toolbox)
    asked = [_choice(at, "", settings, opening, "", toolbox, choice).chosen() for at in range(attempts)]
    tokens = min([FIRST_WINDOW, *(each.model.budget for each in asked)])
    return estimate(asked, tokens, 0), estimate(asked, tokens), estimate_later(asked, tokens)


def vary(
    count: int,
    prompt: str,
    opening: Opening,
    *,
    session: str,
    toolbox: Toolbox,
    choice: ModelChoice,
    preparations: Preparations,
) -> tuple[Variation, ...]:
    """What each of ``count`` attempts at ``prompt`` asks. ``choice`` is the user's, from which they differ as
    the settings say.

    Raises ChoiceError for a model or an effort that is not to be had.
    """
    settings = opening.settings.attempts
    made: dict[str, Preparation] = {}
    variations = []
    for at in range(count):
        mine = _choice(at, prompt, settings, opening, session, toolbox, choice)
        preparation = made.setdefault(mine.model.name, preparations.now(mine))
        profile = mine.profile()
        if (temperature := _pick(settings.temperatures, at)) is not None:
            profile = replace(profile, extra={**profile.extra, "temperature": temperature})
        hints = own_hints() if settings.hints is None else settings.hints
        variations.append(
            Variation(mine.chosen(), profile, preparation, mine.headers(), _pick(hints, at) or "")
        )
    return tuple(variations)


def _choice(
    at: int,
    prompt: str,
    settings: AttemptSettings,
    opening: Opening,
    session: str,
    toolbox: Toolbox,
    choice: ModelChoice,
) -> ModelChoice:
    mine = ModelChoice(opening, session, toolbox)
    model = _pick(settings.models, at)
    mine.choose(
        model=choice.model if model is None else opening.catalogue.model(model, opening.settings.provider)
    )
    mine.choose(effort=_pick(settings.efforts, at) or choice.effort if mine.model.efforts else None)
    mine.tier = choice.tier
    mine.begin(prompt, redirect=False, tokens=0)
    return mine


def _pick(values: Sequence[T], at: int) -> T | None:
    return values[at % len(values)] if values else None


@cache
def own_hints() -> tuple[str, ...]:
    """The hints that attempts are given unless the user's settings have others."""
    return tuple(tomllib.loads(Path(__file__).with_name("hints.toml").read_text("utf-8"))["hints"])
