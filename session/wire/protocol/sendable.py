"""What of a conversation goes out: made acceptable to any server, and the new items alone where that is
enough.

Strict servers refuse a request for one old item: arguments that are no JSON object, a name that no tool can
have, a call without its result, an empty text. The items stay as they came; what goes out is mended here.
Rules from the public references: OpenAI (names of ``[A-Za-z0-9_-]{1,64}``, ids of at most 64 characters) and
Anthropic (ids of ``[A-Za-z0-9_-]+``).

The increment rule decides when a request may send only the new items. With ``previous_response_id`` the
server continues from a response that it still holds. That is allowed only if every field except the input
and the effort is unchanged, and the earlier input, followed by the output of the server, is a prefix of the
new input. In every other case the request sends the full input. Where the effort is no item of the
conversation, each request names its own; a server that refuses another one than before is told everything
again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from session.wire.protocol.efforts import EffortChange
from session.wire.protocol.frames import NotAnObject, can_be_sent, parse_object
from session.wire.protocol.items import Item, Sent, ServerItem, text_of, tool_output
from session.wire.protocol.parts import NAMELESS
from session.wire.protocol.request import RequestProfile

_LONGEST = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NO_RESULT = "There is no result of this call."
_NO_OUTPUT = "(no output)"


def sendable(items: Sequence[Sent], *, whole: bool = True, plain_ids: bool = False) -> list[Sent]:
    """``items`` with everything mended or left out that a server might refuse.

    Unless they are the ``whole`` input, the server has the calls of some results. With ``plain_ids`` the ids
    of calls are such as Anthropic takes.
    """
    ids = _new_ids(items, plain_ids=plain_ids)
    results = {
        item["call_id"]
        for item in items
        if item["type"] == "function_call_output" or item["type"] == "custom_tool_call_output"
    }
    sent: list[Sent] = []
    lacking: list[Sent] = []
    for item in items:
        match item["type"]:
            case "message":
                if text_of(item).strip():
                    sent += [*lacking, item]
                    lacking = []
            case "function_call":
                call_id = ids[item["call_id"]]
                name, arguments = _name(item["name"]), _arguments(item["arguments"])
                sent.append({**item, "call_id": call_id, "name": name, "arguments": arguments})
                if whole and item["call_id"] not in results:
                    lacking.append(tool_output(call_id, _NO_RESULT, custom=False))
            case "custom_tool_call":
                call_id = ids[item["call_id"]]
                sent.append({**item, "call_id": call_id, "name": _name(item["name"])})
                if whole and item["call_id"] not in results:
                    lacking.append(tool_output(call_id, _NO_RESULT))
            case "function_call_output" | "custom_tool_call_output":
                if item["call_id"] in ids or not whole:
                    call_id = ids.get(item["call_id"], item["call_id"])
                    custom = item["type"] == "custom_tool_call_output"
                    output = item["output"] if item["output"].strip() else _NO_OUTPUT
                    sent.append(tool_output(call_id, output, custom=custom))
            case _:
                sent.append(item)
    return [*sent, *lacking]


def _new_ids(items: Sequence[Sent], *, plain_ids: bool) -> Mapping[str, str]:
    """Maps the id of each call among ``items`` to the one that is sent, which no other call has."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for item in items:
        if item["type"] in ("function_call", "custom_tool_call") and item["call_id"] not in ids:
            given = item["call_id"]
            cleaned = _NOT_IN_A_NAME.sub("_", given) if plain_ids else given
            number = 1
            new = cleaned[:_LONGEST]
            while new in taken:
                number += 1
                new = f"{cleaned[: _LONGEST - 6]}-{number}"
            taken.add(new)
            ids[given] = new
    return ids


def _name(name: str) -> str:
    """``name`` in the characters that the name of a tool may have."""
    return _NOT_IN_A_NAME.sub("_", name).strip("_")[:_LONGEST] or NAMELESS if _odd(name) else name


def _odd(name: str) -> bool:
    return len(name) > _LONGEST or not name or _NOT_IN_A_NAME.search(name) is not None


def _arguments(text: str) -> str:
    """``text``, a call's arguments, as a JSON object."""
    try:
        given = parse_object(text)
    except NotAnObject:
        return json.dumps({"input": text})
    if not can_be_sent(given):
        return json.dumps({"input": text})
    return json.dumps(given, ensure_ascii=False) if _ESCAPED_SURROGATE.search(text) else text


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
    efforts: tuple[EffortChange, ...] = ()
    """The changes of the effort in the input."""


@dataclass(frozen=True, slots=True)
class Increment:
    """The items to send: those after ``previous_response_id``, or the full input if that is None."""

    previous_response_id: str | None
    items: tuple[Item, ...]


def increment(
    last: Exchange | None,
    profile: RequestProfile,
    items: Sequence[Item],
    *,
    efforts: tuple[EffortChange, ...] = (),
    same_effort: bool = False,
) -> Increment:
    """The shortest request for ``items`` after the exchange ``last`` on this connection.

    ``items`` is always the full input. The caller may leave out the earlier output's reasoning items,
    empty messages, ids and statuses. After any other change the full input is sent; after another effort
    only with ``same_effort``. ``efforts`` are its changes within ``items``.
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
    told = len(last.efforts)
    if efforts[:told] != last.efforts or any(change.at < position for change in efforts[told:]):
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
