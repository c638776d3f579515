"""Makes a conversation acceptable to any server, whatever an earlier answer held.

Strict servers refuse a request for one old item: arguments that are no JSON object, a name that no tool can
have, a call without its result, an empty text. The items stay as they came; what goes out is mended here.
Rules from the public references: OpenAI (names of ``[A-Za-z0-9_-]{1,64}``, ids of at most 64 characters) and
Anthropic (ids of ``[A-Za-z0-9_-]+``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from session.wire.protocol.frames import NotAnObject, can_be_sent, parse_object
from session.wire.protocol.items import Item, text_of, tool_output
from session.wire.protocol.parts import NAMELESS

_LONGEST = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NO_RESULT = "There is no result of this call."
_NO_OUTPUT = "(no output)"


def sendable(items: Sequence[Item], *, whole: bool = True, plain_ids: bool = False) -> list[Item]:
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
    sent: list[Item] = []
    lacking: list[Item] = []
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


def _new_ids(items: Sequence[Item], *, plain_ids: bool) -> Mapping[str, str]:
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
