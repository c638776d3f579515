"""The increment rule: when a request may send only what is new, and what that is.

With ``previous_response_id`` the server continues from a response it still holds. That is legal only
if every field but the input is unchanged, and the earlier input, followed by the output the server
gave, is a prefix of the new input. Anything else sends the input in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from session.protocol.items import Item, ServerItem, text_of
from session.protocol.request import RequestProfile

# The fields that make an output item what it is. Servers put ids and statuses on items that the
# caller need not repeat, and their final event may spell an item differently from its own done event.
_MEANING = {
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call": ("call_id", "name", "arguments"),
}
_INCIDENTAL = frozenset({"id", "status"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request the server answered on the connection in hand, and what it answered."""

    profile: RequestProfile
    input: tuple[Item, ...]
    response_id: str
    output: tuple[ServerItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Increment:
    """What to send: ``items``, after ``previous_response_id`` or (when None) as the full input."""

    previous_response_id: str | None
    items: tuple[Item, ...]


def increment(last: Exchange | None, profile: RequestProfile, items: Sequence[Item]) -> Increment:
    """The shortest request for ``items`` to a server whose last exchange on this connection was ``last``.

    ``items`` is always the full input. The caller may leave out the earlier output's reasoning items
    and empty messages, and ids and statuses; any other change means that everything is sent.
    """
    full = tuple(items)
    whole = Increment(None, full)
    if last is None or not last.response_id or last.profile != profile:
        return whole
    sent = len(last.input)
    if full[:sent] != last.input:
        return whole
    position = sent
    for item in last.output:
        if position < len(full) and same_item(full[position], item):
            position += 1
        elif not _may_be_left_out(item):
            return whole
    if position == len(full) and full:
        return whole
    return Increment(last.response_id, full[position:])


def _may_be_left_out(answered: ServerItem) -> bool:
    """Reasoning stays with the server, and a message without words says nothing."""
    kind = answered.get("type")
    return kind == "reasoning" or (kind == "message" and not text_of(answered))


def same_item(item: Item, answered: ServerItem) -> bool:
    """Whether the caller's item is the server's output item ``answered``."""
    given: Mapping[str, Any] = item
    kind = answered.get("type")
    if given["type"] != kind:
        return False
    if kind == "message":
        return given.get("role") == answered.get("role") and text_of(given) == text_of(answered)
    names = _MEANING.get(str(kind))
    if names is not None:
        return all(given.get(name) == answered.get(name) for name in names)
    return _essence(given) == _essence(answered)


def _essence(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in _INCIDENTAL}
