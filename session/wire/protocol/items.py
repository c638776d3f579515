"""The items of a conversation in the form of the Responses API. The other dialects convert from them.

:data:`Item` is an item that spark sends: complete, checked, and tagged by its ``type``.
:data:`ServerItem` is an item that a server sent, unchecked;
``session.wire.input_items.answer_items`` turns it into an :data:`Item`.

Source: OpenAI's public Responses reference (``input`` and ``output`` items).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

ServerItem = dict[str, Any]
"""An output item as a server sent it: any JSON object."""


class InputText(TypedDict):
    """Text from the user or from spark."""

    type: Literal["input_text"]
    text: str


class OutputText(TypedDict):
    """Text from the model."""

    type: Literal["output_text"]
    text: str


class RefusalPart(TypedDict):
    """The text of a refusal."""

    type: Literal["refusal"]
    refusal: str


class Message(TypedDict):
    """A message. The role ``developer`` is for messages from spark itself."""

    type: Literal["message"]
    role: Literal["user", "assistant", "developer"]
    content: Sequence[InputText | OutputText | RefusalPart]
    phase: NotRequired[str]


class ThinkingBlock(TypedDict):
    """Reasoning that a Messages server signed; it must be sent back unchanged."""

    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinking(TypedDict):
    """Reasoning that only the Messages server that sent it can read."""

    type: Literal["redacted_thinking"]
    data: str


class SummaryText(TypedDict):
    """A readable part of a reasoning item."""

    type: Literal["summary_text"]
    text: str


class Reasoning(TypedDict):
    """The model's reasoning, in the encrypted, signed or plain form that its server expects back.

    ``origin`` names the dialect and the model that it is from: nobody else can read it.
    """

    type: Literal["reasoning"]
    summary: Sequence[SummaryText]
    encrypted_content: NotRequired[str]
    thinking: NotRequired[Sequence[ThinkingBlock | RedactedThinking]]
    reasoning_content: NotRequired[str]
    origin: NotRequired[str]


class FunctionCall(TypedDict):
    """A call of a function tool; ``arguments`` is JSON."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str


class CustomToolCall(TypedDict):
    """A call of a freeform tool; ``input`` is plain text."""

    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    input: str


class FunctionCallOutput(TypedDict):
    """The result of a :class:`FunctionCall`."""

    type: Literal["function_call_output"]
    call_id: str
    output: str


class CustomToolCallOutput(TypedDict):
    """The result of a :class:`CustomToolCall`."""

    type: Literal["custom_tool_call_output"]
    call_id: str
    output: str


ToolCall = FunctionCall | CustomToolCall
Item = Message | Reasoning | ToolCall | FunctionCallOutput | CustomToolCallOutput


class FunctionTool(TypedDict):
    """The definition of a tool whose arguments are JSON; ``parameters`` is their JSON Schema."""

    type: Literal["function"]
    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, Any]]
    strict: NotRequired[bool]


class FreeformTool(TypedDict):
    """The definition of a tool that takes plain text; ``format`` may hold its grammar."""

    type: Literal["custom"]
    name: str
    description: NotRequired[str]
    format: NotRequired[dict[str, Any]]


ToolDefinition = FunctionTool | FreeformTool


class AdditionalTools(TypedDict):
    """Tools that are offered from this place of the conversation on."""

    type: Literal["additional_tools"]
    role: Literal["developer"]
    tools: Sequence[ToolDefinition]


StandingItem = AdditionalTools | Message
"""An item that begins a conversation: its tools or its instructions."""


class Effort(TypedDict):
    """How much the model thinks."""

    effort: str


class EffortUpdate(TypedDict):
    """Another effort from this place of the conversation on (``efforts.py``)."""

    type: Literal["configuration_update"]
    reasoning: Effort


Sent = Item | EffortUpdate
"""An item of a conversation as it goes out."""


def user_message(text: str) -> Item:
    """A user message of one text part."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def tool_output(call_id: str, output: str, *, custom: bool = True) -> Item:
    """The result of a tool call; ``custom`` is false for a function call."""
    if custom:
        return {"type": "custom_tool_call_output", "call_id": call_id, "output": output}
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def readable(items: Sequence[Sent], origin: str) -> list[Sent]:
    """``items`` as the server of ``origin`` takes them: without reasoning that is from elsewhere, and without
    the marks that only spark reads."""
    kept: list[Sent] = []
    for item in items:
        if item["type"] == "reasoning":
            if item.get("origin", origin) != origin:
                continue
            if "origin" in item:
                item = item.copy()
                del item["origin"]
        kept.append(item)
    return kept


def new_call_id() -> str:
    """A unique id for a call that the server sent without one.

    Servers refuse two calls with the same id.
    """
    return f"call_{uuid.uuid4().hex[:24]}"


def text_of(item: Mapping[str, Any]) -> str:
    """The text of a message or of a tool's output, with its parts joined; empty for other items."""
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part.get("text", part.get("refusal", "")) for part in content if isinstance(part, Mapping)]
    return "".join(part for part in parts if isinstance(part, str))
