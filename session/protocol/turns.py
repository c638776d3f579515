"""Responses input items as the turns of a conversation, for the dialects that know only turns.

What those dialects lack is carried over as they can say it: words of the program (role ``developer``)
become the user's, marked; consecutive turns of one role are joined, since many servers' templates
refuse two of the same in a row; reasoning is left out, but for the signed blocks that a Messages server
wants back with the calls that followed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from session.protocol.request import Item, text_of

DEVELOPER_OPEN, DEVELOPER_CLOSE = "<developer>\n", "\n</developer>"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call the model made. ``arguments`` is JSON for a function, free text for a custom tool."""

    call_id: str
    name: str
    arguments: str
    custom: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to."""

    call_id: str
    text: str


@dataclass(slots=True)
class Turn:
    """What one side said and did before the other's turn."""

    role: Literal["user", "assistant"]
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    thinking: list[Item] = field(default_factory=list)
    """Blocks of the Messages dialect, as the server gave them."""


def turns(items: Sequence[Item]) -> list[Turn]:
    """``items`` as turns, roles alternating."""
    found: list[Turn] = []

    def turn(role: Literal["user", "assistant"]) -> Turn:
        if not found or found[-1].role != role:
            found.append(Turn(role))
        return found[-1]

    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            text = text_of(item)
            if not text:
                continue
            if item.get("role") == "assistant":
                turn("assistant").texts.append(text)
            elif item.get("role") == "user":
                turn("user").texts.append(text)
            else:
                turn("user").texts.append(f"{DEVELOPER_OPEN}{text}{DEVELOPER_CLOSE}")
        elif kind in ("function_call", "custom_tool_call"):
            custom = kind == "custom_tool_call"
            arguments = item.get("input" if custom else "arguments", "")
            call = Call(str(item.get("call_id", "")), str(item.get("name", "")), str(arguments), custom)
            turn("assistant").calls.append(call)
        elif kind == "reasoning":
            if blocks := item.get("thinking"):
                turn("assistant").thinking += blocks
        elif kind in ("function_call_output", "custom_tool_call_output"):
            turn("user").results.append(Result(str(item.get("call_id", "")), text_of(item)))
    return found


def functions(tools: Sequence[Item]) -> list[Item]:
    """The function tools; freeform ones are only for Responses, where edits need no escaping."""
    return [tool for tool in tools if tool.get("type") == "function" and isinstance(tool.get("name"), str)]
