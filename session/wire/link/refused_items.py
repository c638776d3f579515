"""Finds the item of a conversation that a server refuses, so that the request can be made without it.

Servers name what they refuse by its place (``messages[3].content``, ``input.5``, "messages.2: …") or by the
id of a call. Only what the model said and what its calls gave may be left out: never a prompt or the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from session.wire.protocol.errors import PREVIOUS_NOT_FOUND, is_context_overflow
from session.wire.protocol.events import ServerError
from session.wire.protocol.items import Item

_STATUSES = (400, 422)
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
    if error.status not in _STATUSES or error.code == PREVIOUS_NOT_FOUND:
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
