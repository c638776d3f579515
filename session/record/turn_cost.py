"""Counts what one turn takes: tokens, their cost and their speed.

Tokens are the server's count, or estimates where it gave none.
"""

from __future__ import annotations

from time import monotonic

from session.base.events import Usage
from session.models.catalogue import Price
from session.wire.protocol.events import CONTENT, TokenUsage, WireEvent

SHORTEST = 0.05
"""An answer that took fewer seconds came in one or two pieces: its speed would be that of the socket."""
FEWEST = 20
"""Least tokens of an answer whose speed means something."""


class Tally:
    """Adds up the responses of turn ``turn``, asked of ``model`` at ``price`` (None if unknown), or on a
    ``plan``."""

    def __init__(self, turn: str, model: str = "", price: Price | None = None, *, plan: str = "") -> None:
        self._turn, self._model, self._price, self._plan = turn, model, price, plan
        self._input = self._cached = self._output = self._reasoning = 0
        self._estimated = False
        self._cost = 0.0
        self._first_token: float | None = None
        self._round_trip: float | None = None
        self._streaming = 0.0
        self._last: float | None = None

    def saw(self, event: WireEvent) -> None:
        """Note that a piece of a response has just come."""
        if not isinstance(event, CONTENT):
            return
        now = monotonic()
        if self._last is not None:
            self._streaming += now - self._last
        self._last = now

    def timed(self, first_token: float | None, round_trip: float | None) -> None:
        """Note the end of a response: the seconds from the request to its first token, and those of a round
        trip to the server. The turn's first token is that of its first response."""
        self._last = None
        if self._first_token is None:
            self._first_token = first_token
        self._round_trip = round_trip if round_trip is not None else self._round_trip

    def count(self, usage: TokenUsage) -> None:
        """Add a response that the server counted."""
        self._input += usage.input_tokens
        self._cached += usage.cached_tokens
        self._output += usage.output_tokens
        self._reasoning += usage.reasoning_tokens
        self._pay(usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.written_tokens)

    def estimate(self, input_tokens: int, output_tokens: int) -> None:
        """Add a response without a count; the turn's figures are estimates from now on."""
        self._input += input_tokens
        self._output += output_tokens
        self._estimated = True
        self._pay(input_tokens, 0, output_tokens, 0)

    def _pay(self, input_tokens: int, cached_tokens: int, output_tokens: int, written_tokens: int) -> None:
        """The cost of one response; a long one may have a price of its own."""
        if self._price is not None:
            self._cost += self._price.cost(input_tokens, cached_tokens, output_tokens, written_tokens)

    @property
    def cost(self) -> float:
        """The dollars so far; 0 where the price is unknown."""
        return self._cost

    def event(self) -> Usage:
        """The figures so far."""
        told = self._streaming >= SHORTEST and self._output >= FEWEST
        speed = self._output / self._streaming if told else None
        return Usage(
            turn=self._turn,
            input_tokens=self._input,
            cached_tokens=self._cached,
            output_tokens=self._output,
            reasoning_tokens=self._reasoning,
            estimated=self._estimated,
            model=self._model,
            cost=None if self._price is None else round(self._cost, 8),
            first_token_seconds=_rounded(self._first_token),
            tokens_per_second=_rounded(speed),
            round_trip_seconds=_rounded(self._round_trip),
            plan=self._plan,
        )


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(float(figure), 6)
