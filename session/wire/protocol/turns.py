"""Converts Responses input items to turns, for the dialects that know only turns.

Messages with the role ``developer`` become marked user text. Consecutive turns of one role are joined,
since many servers' templates refuse two in a row. Reasoning is left out, except for what a server expects
back with the calls that followed it: the signed blocks of Messages, and the plain text of some Chat servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from session.wire.protocol.items import (
    FunctionTool,
    RedactedThinking,
    Sent,
    ThinkingBlock,
    ToolDefinition,
    text_of,
)

DEVELOPER_OPEN, DEVELOPER_CLOSE = "<developer>\n", "\n</developer>"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call by the model. ``arguments`` is JSON for a function, free text for a custom tool."""

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
    """All messages, calls and results of one side before the other side's turn."""

    role: Literal["user", "assistant"]
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    thinking: list[ThinkingBlock | RedactedThinking] = field(default_factory=list)
    """Thinking blocks of the Messages dialect, as the server sent them."""
    reasoning: list[str] = field(default_factory=list)
    """Plain reasoning of the Chat dialect that goes back."""
    effort: str = ""
    """The effort from the answer to this turn on; empty for the one before."""


def turns(items: Sequence[Sent]) -> list[Turn]:
    """``items`` as turns with alternating roles; no turn is empty.

    Servers refuse a message without content, so blank text is left out. Thinking without text or a
    call after it is left out too: it comes from an answer that was interrupted.
    """
    found: list[Turn] = []

    def turn(role: Literal["user", "assistant"]) -> Turn:
        if not found or found[-1].role != role:
            found.append(Turn(role))
        return found[-1]

    thinking: list[ThinkingBlock | RedactedThinking] = []
    reasoning: list[str] = []
    effort = ""

    def assistant() -> Turn:
        mine = turn("assistant")
        mine.thinking += thinking
        mine.reasoning += reasoning
        thinking.clear()
        reasoning.clear()
        return mine

    def user() -> Turn:
        nonlocal effort
        thinking.clear()
        reasoning.clear()
        mine = turn("user")
        mine.effort, effort = effort or mine.effort, ""
        return mine

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
                    user().texts.append(marked(text))
            case "function_call":
                call = Call(item["call_id"], item["name"], item["arguments"], custom=False)
                assistant().calls.append(call)
            case "custom_tool_call":
                call = Call(item["call_id"], item["name"], item["input"], custom=True)
                assistant().calls.append(call)
            case "reasoning":
                thinking += item.get("thinking", ())
                reasoning += [item["reasoning_content"]] if item.get("reasoning_content") else []
            case "function_call_output" | "custom_tool_call_output":
                user().results.append(Result(item["call_id"], item["output"]))
            case "configuration_update":
                effort = item["reasoning"]["effort"]
    if effort and found and found[-1].role == "user":
        found[-1].effort = effort
    return found


def marked(text: str) -> str:
    """Spark's own words, marked as such in a message of the user's."""
    return f"{DEVELOPER_OPEN}{text}{DEVELOPER_CLOSE}"


def functions(tools: Sequence[ToolDefinition]) -> list[FunctionTool]:
    """The function tools. Freeform tools exist only in the Responses dialect."""
    return [tool for tool in tools if tool["type"] == "function"]
