"""What the model has been sent and has said, as Responses input items, append-only.

Every item is one the server would accept again: a truncated tool call is never in it, reasoning
only in its encrypted or signed form, since nothing is stored on the server (``store: false``); and every
tool call is followed by its output before anything else is said (:func:`answered`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from session.protocol.frames import can_be_sent
from session.protocol.request import Item, tool_output

_KEPT_FIELDS = {
    "message": ("type", "role", "content", "phase"),
    "reasoning": ("type", "summary", "encrypted_content", "thinking"),
    "custom_tool_call": ("type", "call_id", "name", "input"),
    "function_call": ("type", "call_id", "name", "arguments"),
}
_NEEDED = {
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call": ("call_id", "name", "arguments"),
}


_COUNTED = ("name", "input", "arguments", "output", "encrypted_content")


def developer_message(text: str) -> Item:
    """Words of spark's: the window's context, reports, the user's changes."""
    return {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}


def assistant_message(text: str) -> Item:
    """What the model said, for an answer whose own item never came."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def answer_items(output: Iterable[Item]) -> list[Item]:
    """The items of a response in the form in which they may be sent back.

    Reasoning without its encrypted or signed content is left out (a server that stores nothing refuses
    it), as is any kind of item that spark did not ask for, and any that lacks what makes it one. Each call
    has an id of its own: a server would refuse two of one id, and one would get the other's answer.
    """
    items: list[Item] = []
    calls: dict[str, Item] = {}
    for item in output:
        fields = _KEPT_FIELDS.get(str(item.get("type")))
        if fields is None or (item["type"] in _NEEDED and item.get("status") == "incomplete"):
            continue
        kept = {name: item[name] for name in fields if item.get(name) is not None}
        if item["type"] == "message":
            kept["content"] = _plain_content(item.get("content"))
            # Whoever the server says is speaking, an answer is the assistant's.
            kept["role"] = "assistant"
        elif item["type"] == "reasoning":
            kept.setdefault("summary", [])
        elif item["type"] == "function_call":
            kept = _function_call(kept, str(item.get("id") or f"call-{len(calls)}"))
        if _is_whole(kept) and can_be_sent(kept) and (not is_call(kept) or _is_new(kept, calls)):
            items.append(kept)
    return items


def _function_call(item: Item, name: str) -> Item:
    """The call ``item``, called ``name`` if it has no id; its arguments as text, where they came as JSON."""
    given = item.get("arguments", {})
    arguments = json.dumps(given) if isinstance(given, dict) else given
    return {**item, "call_id": item.get("call_id") or name, "arguments": arguments}


def _is_new(call: Item, calls: dict[str, Item]) -> bool:
    """Enter ``call`` in ``calls``, by another id where its own is taken; false for one that came before."""
    given = call["call_id"]
    if {**calls.get(given, {}), "call_id": given} == call:
        return False
    number = 2
    while call["call_id"] in calls:
        call["call_id"] = f"{given}-{number}"
        number += 1
    calls[call["call_id"]] = call
    return True


def _is_whole(item: Item) -> bool:
    if item["type"] == "message":
        return bool(item["content"])
    if item["type"] == "reasoning":
        sealed = item.get("encrypted_content")
        return (isinstance(sealed, str) and bool(sealed)) or isinstance(item.get("thinking"), list)
    call_id, name, given = (item.get(field) for field in _NEEDED[item["type"]])
    return bool(call_id and name) and all(isinstance(value, str) for value in (call_id, name, given))


def is_call(item: Item) -> bool:
    """Whether ``item`` is a tool call, which is owed an output."""
    return item.get("type") in _NEEDED


def answered(items: Iterable[Item], outputs: Mapping[str, str], otherwise: str) -> list[Item]:
    """The outputs that the calls among ``items`` are owed, in order, by call id; ``otherwise`` for those
    that have none."""
    return [
        tool_output(call_id, outputs.get(call_id, otherwise), custom=item["type"] == "custom_tool_call")
        for item in items
        if is_call(item)
        for call_id in [str(item["call_id"])]
    ]


def _plain_content(content: Any) -> list[dict[str, str]]:
    """Text and refusals alone: annotations and log probabilities are not to be sent back."""
    parts = []
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict):
            continue
        for kind, field in (("output_text", "text"), ("refusal", "refusal")):
            if part.get("type") == kind and isinstance(part.get(field), str) and part[field]:
                parts.append({"type": kind, field: part[field]})
    return parts


def item_text(item: Item) -> str:
    """All the text an item holds that costs tokens, for counting."""
    if item.get("type") == "message":
        texts = [str(part.get("text") or part.get("refusal") or "") for part in item.get("content", [])]
        return "\n".join(texts)
    texts = [str(item[name]) for name in _COUNTED if name in item]
    texts += [str(block.get("thinking") or block.get("data") or "") for block in item.get("thinking", ())]
    return "\n".join(texts)


class Conversation:
    """The items so far, and the tokens they take by our own count."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self.tokens = 0
        self.starts = 0
        """How often it was started over."""

    @property
    def items(self) -> Sequence[Item]:
        """All items, oldest first."""
        return self._items

    def extend(self, items: Sequence[Item], tokens: int) -> None:
        """Append ``items``, which together take ``tokens`` tokens."""
        self._items.extend(items)
        self.tokens += tokens

    def copied(self) -> Conversation:
        """The same items, for one who reads beside a turn."""
        copy = Conversation()
        copy.extend(self._items, self.tokens)
        return copy

    def clear(self) -> None:
        """Start over with an empty window, when the old one is full."""
        self._items.clear()
        self.tokens = 0
        self.starts += 1
