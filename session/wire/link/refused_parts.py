"""Leaves out the part of a request that a server refuses, and asks again without it.

It may be an optional field. A key of an unverified organisation, for example, gets 400 for
``reasoning.summary``, and many open models do not take an effort. What was left out stays out for that model
until the session ends.

It may be an item of the conversation. Servers name what they refuse by its place (``messages[3].content``,
``input.5``, "messages.2: …") or by the id of a call. Only what the model said and what its calls gave may be
left out: never a prompt or the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from session.wire.protocol.errors import PREVIOUS_NOT_FOUND, is_context_overflow
from session.wire.protocol.events import ServerError
from session.wire.protocol.items import Item
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
NONE_WITH_TOOLS = "an effort beside tools"
EFFORT_ITEMS = "another effort as an item of the conversation"
STEER = "a prompt in the middle of an answer"
_STATUSES = (None, 400, 422)
_NAMED = re.compile(r"""['"`]([a-z_]+(?:\.[a-z_]+)*)(?:\[\d+\])?['"`]""")
_UNQUOTED = re.compile(
    "|".join(
        sorted((re.escape(name) for name in OPTIONAL if "_" in name or "." in name), key=len, reverse=True)
    )
)
"""Names that are no words of a sentence, and so are the field's without quotes too."""
_ABOUT_THE_CHAIN = ("", "previous_response_id", "reasoning", "reasoning.effort")
_ABOUT_EFFORT_ITEMS = re.compile(r"configuration.update|output.config|effort|\bsystem\b", re.IGNORECASE)
_ONLY_NONE = re.compile(r"set ['\"`]?reasoning_effort['\"`]? to ['\"`]none", re.IGNORECASE)
"""How OpenAI refuses tools and an effort in one Chat request, which its models since GPT-6 do."""
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
        """``profile`` with its instructions, tools and effort as the server takes them."""
        out = self.left_out(profile.model)
        if NONE_WITH_TOOLS in out and profile.tools:
            profile = replace(profile, effort="none")
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

    def takes_effort_items(self, profile: RequestProfile) -> bool:
        """Whether another effort in a conversation may be an item of it."""
        out = self.left_out(profile.model)
        return profile.effort_items and EFFORT_ITEMS not in out and not out & EFFORT

    def can_steer(self, profile: RequestProfile) -> bool:
        """Whether a prompt may go out in the middle of an answer."""
        return profile.steer and STEER not in self.left_out(profile.model)

    def refuse_steer(self, model: str) -> None:
        """Send ``model`` no more prompts in the middle of an answer."""
        self._left_out[model] = self.left_out(model) | {STEER}

    def learn(
        self,
        error: ServerError,
        profile: RequestProfile,
        *,
        other_effort: bool = False,
        effort_items: bool = False,
    ) -> str:
        """Leave out what ``error`` is about, and return its name. Empty where it is about nothing optional,
        or about what is out already. ``other_effort`` says that the request changed a conversation's effort,
        ``effort_items`` that it has such changes as items.
        """
        if error.status not in _STATUSES or error.code == PREVIOUS_NOT_FOUND:
            return ""
        before = self.left_out(profile.model)
        too_long = is_context_overflow(error.code, error.message)
        if other_effort and not too_long and error.param in _ABOUT_THE_CHAIN and OTHER_EFFORT not in before:
            self._left_out[profile.model] = before | {OTHER_EFFORT}
            return OTHER_EFFORT
        if profile.tools and _ONLY_NONE.search(error.message) and NONE_WITH_TOOLS not in before:
            self._left_out[profile.model] = before | {NONE_WITH_TOOLS}
            return NONE_WITH_TOOLS
        about = f"{error.param} {error.message}"
        if effort_items and not too_long and _ABOUT_EFFORT_ITEMS.search(about) and EFFORT_ITEMS not in before:
            self._left_out[profile.model] = before | {EFFORT_ITEMS}
            return EFFORT_ITEMS
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
    named += [] if named else _UNQUOTED.findall(error.message)
    if not error.param and _NO_THINKING.search(error.message):
        named += ["reasoning_effort", "reasoning.effort", "reasoning.summary"]
    fields: list[str] = []
    for name in named:
        while name:
            fields.append(name)
            name = name.rpartition(".")[0]
    return fields


_ITEM_STATUSES = (400, 422)
_PLACE = re.compile(
    r"\b(?:messages|input)(?:\.?\[(\d+)\]|\.(\d+))|\bmessage (?:at (?:index|position) )?#?(\d+)\b",
    re.IGNORECASE,
)
_SHORTEST_ID = 4


def refused_items(
    error: ServerError, items: Sequence[Item], count: Callable[[Sequence[Item]], int] | None
) -> frozenset[int]:
    """The indices of those of ``items`` that ``error`` refuses; empty where it names none that can be left
    out. ``count`` says how many messages some first items become; None where places mean something else."""
    if error.status not in _ITEM_STATUSES or error.code == PREVIOUS_NOT_FOUND:
        return frozenset()
    if is_context_overflow(error.code, error.message):
        return frozenset()
    said = f"{error.param} {error.message}"
    calls = {_call_id(item) for item in items} - {""}
    named = {call for call in calls if len(call) >= _SHORTEST_ID and _has_word(said, call)}
    found = {index for index, item in enumerate(items) if _call_id(item) in named}
    place = _PLACE.search(said)
    if not found and place is not None and count is not None:
        number = next(int(group) for group in place.groups() if group is not None)
        found = _at(number, items, count)
        # A call goes with its result, and a result with its call.
        named = {_call_id(items[index]) for index in found} - {""}
        found |= {index for index, item in enumerate(items) if _call_id(item) in named}
    return frozenset(found) if all(_may_go(items[index]) for index in found) else frozenset()


def _at(number: int, items: Sequence[Item], count: Callable[[Sequence[Item]], int]) -> set[int]:
    """The indices of the items that become the message ``number``, from 0."""
    first, last = _fewest(number + 1, items, count), _fewest(number + 2, items, count)
    return set(range(first - 1, last - 1)) if 0 < first <= len(items) else set()


def _fewest(messages: int, items: Sequence[Item], count: Callable[[Sequence[Item]], int]) -> int:
    """How many first items it takes for so many messages; one more than there are if all do not."""
    low, high = 0, len(items) + 1
    while low < high:
        middle = (low + high) // 2
        if middle <= len(items) and count(items[:middle]) < messages:
            low = middle + 1
        else:
            high = middle
    return low


def _call_id(item: Item) -> str:
    return str(item.get("call_id", ""))


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _may_go(item: Item) -> bool:
    return item["type"] != "message" or item["role"] == "assistant"
