"""The increment rule: decides when a request may send only the new items.

With ``previous_response_id`` the server continues from a response that it still holds. That is allowed
only if every field except the input and the effort is unchanged, and the earlier input, followed by the
output of the server, is a prefix of the new input. In every other case the request sends the full input.
Each request names its own effort; a server that refuses another one than before is told everything again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from session.wire.protocol.items import Item, ServerItem, text_of
from session.wire.protocol.request import RequestProfile

# The fields that two equal items share. Servers add ids and statuses that the caller need not repeat,
# and their final event may write an item differently from the item's own done event.
_MEANING = {
    "reasoning": ("encrypted_content", "thinking", "reasoning_content"),
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call": ("call_id", "name", "arguments"),
}
_INCIDENTAL = frozenset({"id", "status"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that the server answered on the current connection, with the answer's id and items."""

    profile: RequestProfile
    input: tuple[Item, ...]
    response_id: str
    output: tuple[ServerItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Increment:
    """The items to send: those after ``previous_response_id``, or the full input if that is None."""

    previous_response_id: str | None
    items: tuple[Item, ...]


def increment(
    last: Exchange | None, profile: RequestProfile, items: Sequence[Item], *, same_effort: bool = False
) -> Increment:
    """The shortest request for ``items`` after the exchange ``last`` on this connection.

    ``items`` is always the full input. The caller may leave out the earlier output's reasoning items,
    empty messages, ids and statuses. After any other change the full input is sent; after another effort
    only with ``same_effort``.
    """
    full = tuple(items)
    whole = Increment(None, full)
    if last is None or not last.response_id or not _continues(last.profile, profile, same_effort):
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


def _continues(before: RequestProfile, now: RequestProfile, same_effort: bool) -> bool:
    either_or_none = (before.effort is None) == (now.effort is None)
    if before.effort == now.effort or same_effort or not either_or_none:
        return before == now
    return replace(before, effort=now.effort) == now


def _may_be_left_out(answered: ServerItem) -> bool:
    """Whether the input may omit the item: the server keeps reasoning, and an empty message adds nothing."""
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
