"""Measures how many tokens a server counts for one that spark counts, by the first response of each turn."""

from __future__ import annotations

from pathlib import Path

from session.base.events import Event, TurnStarted, Usage
from session.models.token_ratios import keep_ratio

LEAST_TOKENS = 2_000
"""Tokens of the shortest input whose ratio means something: a server adds some of its own to each."""


class RatioMeter:
    """Measures the ratios of one session's models, which count from the next session on."""

    def __init__(self, state: Path, provider: str) -> None:
        self._state = state
        self._provider = provider
        self._asked: tuple[str, str, int] | None = None
        """The turn that has not been counted yet, its model, and spark's count of its first request."""

    def take(self, event: Event) -> None:
        """Measure by the first count of each turn. Raises OSError if it cannot be kept."""
        if isinstance(event, TurnStarted):
            self._asked = (event.turn, event.model, event.input_tokens)
        elif isinstance(event, Usage) and self._asked is not None and event.turn == self._asked[0]:
            (_, model, counted), self._asked = self._asked, None
            if not event.estimated and counted >= LEAST_TOKENS:
                keep_ratio(self._state, f"{self._provider}/{model}", event.input_tokens / counted)
