"""Leaves out an optional field of our requests that a server refuses, and asks again without it.

A key of an unverified organisation, for example, gets 400 for ``reasoning.summary``. What was left out stays
out for that model until the session ends.
"""

from __future__ import annotations

import re

from session.protocol.events import ServerError
from session.protocol.request import Quirks

OPTIONAL = (
    "reasoning.summary",
    "include",
    "prompt_cache_key",
    "parallel_tool_calls",
    "stream_options",
)
"""Fields without which an answer is as good. A tier or an effort is the user's choice and not among them."""
_STATUSES = (None, 400, 422)
_NAMED = re.compile(r"""['"`]([a-z_]+(?:\.[a-z_]+)*)(?:\[\d+\])?['"`]""")


class OptionalFields:
    """What one server's models do not take, beside the quirks that the catalogue knows."""

    def __init__(self, quirks: Quirks) -> None:
        self._quirks = quirks
        self._left_out: dict[str, frozenset[str]] = {}

    def quirks(self, model: str) -> Quirks:
        """The quirks for requests to ``model``."""
        return self._quirks.without(self.left_out(model))

    def left_out(self, model: str) -> frozenset[str]:
        """The fields that were refused for ``model``."""
        return self._left_out.get(model, frozenset())

    def learn(self, error: ServerError, model: str) -> bool:
        """Leave out the field that ``error`` is about. False where it is about none, or one already out."""
        if error.status not in _STATUSES:
            return False
        named = [error.param.partition("[")[0]] if error.param else _NAMED.findall(error.message)
        before = self.left_out(model)
        new = next((name for name in named if name in OPTIONAL and name not in before), None)
        if new is None:
            return False
        self._left_out[model] = before | {new}
        return True
