"""The tokens of one turn: what the server said, or our own count where it said nothing."""

from __future__ import annotations

from session.events import Usage
from session.protocol.events import TokenUsage


class Tally:
    """Adds up the responses of the turn ``turn``."""

    def __init__(self, turn: str) -> None:
        self._turn = turn
        self._input = self._cached = self._output = self._reasoning = 0
        self._estimated = False

    def count(self, usage: TokenUsage) -> None:
        """A response, as the server counted it."""
        self._input += usage.input_tokens
        self._cached += usage.cached_tokens
        self._output += usage.output_tokens
        self._reasoning += usage.reasoning_tokens

    def estimate(self, input_tokens: int, output_tokens: int) -> None:
        """A response that the server gave no count for: the turn's figures are estimates from now on."""
        self._input += input_tokens
        self._output += output_tokens
        self._estimated = True

    def event(self) -> Usage:
        """The figures so far."""
        return Usage(
            turn=self._turn,
            input_tokens=self._input,
            cached_tokens=self._cached,
            output_tokens=self._output,
            reasoning_tokens=self._reasoning,
            estimated=self._estimated,
        )
