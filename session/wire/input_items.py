"""Makes the items of the conversation: spark's own messages, texts attached to prompts, and the model's
answers in a form to send back.

Servers must accept every item again. So a tool call that was cut is left out, reasoning is kept only in its
encrypted or signed form, since the server stores nothing (``store: false``), and every tool call is followed
by its output (:func:`answered`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from context.text.safe import fenced
from session.wire.instructions import REPORT_HEAD
from session.wire.protocol.frames import can_be_sent
from session.wire.protocol.items import (
    Item,
    Message,
    OutputText,
    Reasoning,
    RefusalPart,
    ToolCall,
    new_call_id,
    tool_output,
    user_message,
)

_COUNTED = ("name", "input", "arguments", "output", "encrypted_content", "reasoning_content")


def developer_message(text: str) -> Item:
    """A message in spark's own fixed words: nothing of a project, a server or a tool may be in it."""
    return {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}


def report_messages(report: str) -> list[Item]:
    """The message that tells the model of its edits, if there is anything to tell. It quotes files, so it has
    the role of the user and not spark's own."""
    return [user_message(REPORT_HEAD + report)] if report else []


def assistant_message(text: str) -> Item:
    """A message of the model, for an answer that was cut before its item came."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def answer_items(
    output: Iterable[Mapping[str, Any]], earlier_calls: Collection[str] = frozenset()
) -> list[Item]:
    """The items of a response in the form in which they may be sent back.

    Reasoning without its encrypted or signed content is left out (a server that stores nothing refuses
    it), as is any kind of item that spark did not ask for, and any that lacks what makes it one. Each call
    has an id of its own, which none of ``earlier_calls`` has: a server would refuse two of one id, and one
    would get the other's answer.
    """
    items: list[Item] = []
    calls: dict[str, ToolCall] = {}
    for given in output:
        item = _item(given)
        if item is None or not can_be_sent(item):
            continue
        if not is_call(item) or _is_new(item, calls, earlier_calls):
            items.append(item)
    return items


def without_last_reasoning(items: Sequence[Item]) -> list[Item]:
    """``items``, which are one answer, without the reasoning at its end.

    Servers refuse reasoning that no words and no call of the same answer follow. An answer ends so when it
    was interrupted, or when the item that followed cannot be sent back.
    """
    kept = list(items)
    while kept and kept[-1]["type"] == "reasoning":
        kept.pop()
    return kept


def call_ids(items: Iterable[Item]) -> frozenset[str]:
    """The ids of all calls among ``items``."""
    return frozenset(item["call_id"] for item in items if is_call(item))


def _item(given: Mapping[str, Any]) -> Item | None:
    """``given`` in the form in which it may be sent back; None if it has none."""
    match given.get("type"):
        case "message":
            return _message(given)
        case "reasoning":
            return _reasoning(given)
        case "function_call" | "custom_tool_call" if given.get("status") != "incomplete":
            return _call(given)
        case _:
            return None


def _message(given: Mapping[str, Any]) -> Message | None:
    content = _plain_content(given.get("content"))
    if not content:
        return None
    # A message of an answer is the assistant's, whatever role the server gives it.
    message: Message = {"type": "message", "role": "assistant", "content": content}
    if given.get("phase") is not None:
        message["phase"] = given["phase"]
    return message


def _reasoning(given: Mapping[str, Any]) -> Reasoning | None:
    sealed, thinking = given.get("encrypted_content"), given.get("thinking")
    plain, origin = given.get("reasoning_content"), given.get("origin")
    if not (isinstance(sealed, str) and sealed) and not isinstance(thinking, list) and not plain:
        return None
    summary = given.get("summary")
    reasoning: Reasoning = {"type": "reasoning", "summary": [] if summary is None else summary}
    if sealed is not None:
        reasoning["encrypted_content"] = sealed
    if thinking is not None:
        reasoning["thinking"] = thinking
    if isinstance(plain, str):
        reasoning["reasoning_content"] = plain
    if isinstance(origin, str):
        reasoning["origin"] = origin
    return reasoning


def _call(given: Mapping[str, Any]) -> ToolCall | None:
    """A tool call. A function call without an id gets one, and its arguments become text."""
    call_id, name = given.get("call_id"), given.get("name")
    if given["type"] == "custom_tool_call":
        text = given.get("input")
        if not (_is_name(call_id) and _is_name(name) and isinstance(text, str)):
            return None
        return {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": text}
    arguments = given.get("arguments")
    if arguments is None:
        arguments = {}
    text = json.dumps(arguments) if isinstance(arguments, dict) else arguments
    call_id = call_id or given.get("id") or new_call_id()
    if not (_is_name(call_id) and _is_name(name) and isinstance(text, str)):
        return None
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": text}


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value)


def _is_new(call: ToolCall, calls: dict[str, ToolCall], earlier: Collection[str]) -> bool:
    """Enter ``call`` in ``calls`` by the id that the server gave it; false if the same call is there.

    The call is given another id where its own is taken by one of ``calls`` or of ``earlier``.
    """
    given = call["call_id"]
    if given in calls and {**calls[given], "call_id": given} == call:
        return False
    number = 2
    while call["call_id"] in calls or call["call_id"] in earlier:
        call["call_id"] = f"{given}-{number}"
        number += 1
    calls[call["call_id"]] = call
    return True


def is_call(item: Item) -> TypeGuard[ToolCall]:
    """Whether ``item`` is a tool call, which needs an output."""
    return item["type"] in ("function_call", "custom_tool_call")


def answered(items: Iterable[Item], outputs: Mapping[str, str], otherwise: str) -> list[Item]:
    """The outputs for the calls among ``items``, in order. ``outputs`` holds them by call id; a call without
    one gets the text ``otherwise``."""
    return [
        tool_output(call_id, outputs.get(call_id, otherwise), custom=item["type"] == "custom_tool_call")
        for item in items
        if is_call(item)
        for call_id in [item["call_id"]]
    ]


def _plain_content(content: Any) -> list[OutputText | RefusalPart]:
    """The text and refusals in ``content``; annotations and log probabilities cannot be sent back."""
    parts: list[OutputText | RefusalPart] = []
    for part in content if isinstance(content, list) else []:
        match part:
            case {"type": "output_text", "text": str(text)} if text:
                parts.append({"type": "output_text", "text": text})
            case {"type": "refusal", "refusal": str(text)} if text:
                parts.append({"type": "refusal", "refusal": text})
    return parts


def item_text(item: Mapping[str, Any]) -> str:
    """All text of ``item`` that costs tokens, for counting."""
    if item.get("type") == "message":
        texts = [str(part.get("text") or part.get("refusal") or "") for part in item.get("content", [])]
        return "\n".join(texts)
    texts = [str(item[name]) for name in _COUNTED if name in item]
    texts += [str(block.get("thinking") or block.get("data") or "") for block in item.get("thinking", ())]
    return "\n".join(texts)


def attached(name: str, text: str) -> str:
    """A file or resource with its text, fenced so that nothing in it is taken for the prompt."""
    return f"{name}:\n{fenced(name, text)}"
