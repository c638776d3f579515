"""Leaves out an optional part of our requests that a server refuses, and asks again without it.

A key of an unverified organisation, for example, gets 400 for ``reasoning.summary``, and many open models do
not take an effort. What was left out stays out for that model until the session ends.
"""

from __future__ import annotations

import re
from dataclasses import replace

from session.wire.protocol.errors import PREVIOUS_NOT_FOUND, is_context_overflow
from session.wire.protocol.events import ServerError
from session.wire.protocol.request import Quirks, RequestProfile

EFFORT = frozenset(
    {"reasoning", "reasoning.effort", "reasoning_effort", "thinking", "output_config", "output_config.effort"}
)
"""The fields that carry the effort, which the user may have chosen: leaving them out is told."""
OPTIONAL = EFFORT | {
    "reasoning.summary",
    "include",
    "prompt_cache_key",
    "parallel_tool_calls",
    "stream_options",
    "stream_options.include_obfuscation",
    "text",
    "text.verbosity",
}
"""Fields without which an answer still comes. The user's tier is not among them: it has a price."""
TOOLS_AS_ITEM, INSTRUCTIONS_AS_ITEM = "tools as an item", "instructions as an item"
OTHER_EFFORT = "another effort in a continued conversation"
STEER = "a prompt in the middle of an answer"
_STATUSES = (None, 400, 422)
_NAMED = re.compile(r"""['"`]([a-z_]+(?:\.[a-z_]+)*)(?:\[\d+\])?['"`]""")
_ABOUT_THE_CHAIN = ("", "previous_response_id", "reasoning", "reasoning.effort")
_NO_THINKING = re.compile(r"does not support (?:thinking|reasoning)", re.IGNORECASE)


class OptionalFields:
    """What one server's models do not take, beside the quirks that the catalogue knows."""

    def __init__(self, quirks: Quirks) -> None:
        self._quirks = quirks
        self._left_out: dict[str, frozenset[str]] = {}

    def quirks(self, model: str) -> Quirks:
        """The quirks for requests to ``model``."""
        return self._quirks.without(self.left_out(model))

    def adapted(self, profile: RequestProfile) -> RequestProfile:
        """``profile`` with its instructions and tools where the server takes them."""
        out = self.left_out(profile.model)
        if not out & {TOOLS_AS_ITEM, INSTRUCTIONS_AS_ITEM}:
            return profile
        return replace(
            profile,
            tools_as_item=profile.tools_as_item and TOOLS_AS_ITEM not in out,
            instructions_as_item=profile.instructions_as_item and INSTRUCTIONS_AS_ITEM not in out,
        )

    def left_out(self, model: str) -> frozenset[str]:
        """The fields that were refused for ``model``."""
        return self._left_out.get(model, frozenset())

    def keeps_effort(self, model: str) -> bool:
        """Whether a conversation with ``model`` is continued only with the effort that it has."""
        return OTHER_EFFORT in self.left_out(model)

    def can_steer(self, profile: RequestProfile) -> bool:
        """Whether a prompt may go out in the middle of an answer."""
        return profile.steer and STEER not in self.left_out(profile.model)

    def refuse_steer(self, model: str) -> None:
        """Send ``model`` no more prompts in the middle of an answer."""
        self._left_out[model] = self.left_out(model) | {STEER}

    def learn(self, error: ServerError, profile: RequestProfile, *, other_effort: bool = False) -> str:
        """Leave out what ``error`` is about, and return its name. Empty where it is about nothing optional,
        or about what is out already. ``other_effort`` says that the request changed a conversation's effort.
        """
        if error.status not in _STATUSES or error.code == PREVIOUS_NOT_FOUND:
            return ""
        before = self.left_out(profile.model)
        too_long = is_context_overflow(error.code, error.message)
        if other_effort and not too_long and error.param in _ABOUT_THE_CHAIN and OTHER_EFFORT not in before:
            self._left_out[profile.model] = before | {OTHER_EFFORT}
            return OTHER_EFFORT
        found = _refused_item(error, self.adapted(profile)) or next(
            (name for name in _fields(error) if name in OPTIONAL and name not in before), ""
        )
        if found:
            self._left_out[profile.model] = before | {found}
        return found


def _refused_item(error: ServerError, profile: RequestProfile) -> str:
    """The standing item that ``error`` is about; empty for none. They are the first of the input."""
    first = error.param.startswith(("input[0]", "input.0"))
    if profile.tools_as_item and (first or "additional_tools" in error.message):
        return TOOLS_AS_ITEM
    return INSTRUCTIONS_AS_ITEM if profile.instructions_as_item and first else ""


def _fields(error: ServerError) -> list[str]:
    """The fields that ``error`` names, each followed by those that it is part of."""
    named = [error.param.partition("[")[0]] if error.param else _NAMED.findall(error.message)
    if not error.param and _NO_THINKING.search(error.message):
        named += ["reasoning_effort", "reasoning.effort", "reasoning.summary"]
    fields: list[str] = []
    for name in named:
        while name:
            fields.append(name)
            name = name.rpartition(".")[0]
    return fields
