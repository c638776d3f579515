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

from session.protocol.items import (
    FunctionTool,
    Item,
    RedactedThinking,
    ThinkingBlock,
    ToolDefinition,
    text_of,
)

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
    """The result of a call."""

    call_id: str
    text: str


@dataclass(slots=True)
class Turn:
    """Everything one side says and does before the other's turn."""

    role: Literal["user", "assistant"]
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    thinking: list[ThinkingBlock | RedactedThinking] = field(default_factory=list)
    """Blocks of the Messages dialect, as the server gave them."""


def turns(items: Sequence[Item]) -> list[Turn]:
    """``items`` as turns, roles alternating, none of them empty.

    Servers refuse a message without content, so blank text is left out, and so is thinking that no words
    and no call followed: the answer was interrupted there.
    """
    found: list[Turn] = []

    def turn(role: Literal["user", "assistant"]) -> Turn:
        if not found or found[-1].role != role:
            found.append(Turn(role))
        return found[-1]

    thinking: list[ThinkingBlock | RedactedThinking] = []

    def assistant() -> Turn:
        mine = turn("assistant")
        mine.thinking += thinking
        thinking.clear()
        return mine

    def user() -> Turn:
        thinking.clear()
        return turn("user")

    for item in items:
        match item["type"]:
            case "message":
                text = text_of(item)
                if not text.strip():
                    continue
                if item["role"] == "assistant":
                    assistant().texts.append(text)
                elif item["role"] == "user":
                    user().texts.append(text)
                else:
                    user().texts.append(f"{DEVELOPER_OPEN}{text}{DEVELOPER_CLOSE}")
            case "function_call":
                call = Call(item["call_id"], item["name"], item["arguments"], custom=False)
                assistant().calls.append(call)
            case "custom_tool_call":
                call = Call(item["call_id"], item["name"], item["input"], custom=True)
                assistant().calls.append(call)
            case "reasoning":
                thinking += item.get("thinking", ())
            case "function_call_output" | "custom_tool_call_output":
                user().results.append(Result(item["call_id"], item["output"]))
    return found


def functions(tools: Sequence[ToolDefinition]) -> list[FunctionTool]:
    """The function tools; freeform ones are only for Responses, where edits need no escaping."""
    return [tool for tool in tools if tool["type"] == "function"]
