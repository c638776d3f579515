"""All fields of a request except its input: model, instructions, tools, effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from session.wire.protocol.items import InputText, StandingItem, ToolDefinition


@dataclass(frozen=True, slots=True)
class Quirks:
    """How a provider's request body differs from its dialect: fields that it refuses (``omit``) or knows
    under another name (``rename``)."""

    omit: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """``body`` in the form that this provider accepts."""
        kept = {self.rename.get(key, key): value for key, value in body.items() if key not in self.omit}
        for outer, _, inner in (name.partition(".") for name in self.omit if "." in name):
            if isinstance(kept.get(outer), dict):
                kept[outer] = {key: value for key, value in kept[outer].items() if key != inner}
                if not kept[outer]:
                    del kept[outer]
        return kept

    def without(self, fields: frozenset[str]) -> Quirks:
        """These quirks with ``fields`` omitted too; ``reasoning.summary`` names a nested field."""
        return replace(self, omit=self.omit | fields) if fields else self


NO_QUIRKS = Quirks()


@dataclass(frozen=True, slots=True)
class RequestProfile:
    """All fields of a request except its input. A request continues from another only if they are equal.

    ``tools`` are Responses tool definitions. ``extra`` holds more top-level fields for a provider,
    which are sent unchanged.
    """

    model: str
    instructions: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    effort: str | None = None
    effort_field: bool = False
    """Whether the Messages dialect has the effort in a field of its own; else it is a budget for thinking."""
    effort_items: bool = False
    """Whether another effort in a conversation is an item of it (``efforts.py``)."""
    service_tier: str | None = None
    summary: str | None = "auto"
    """How the server summarises reasoning; sent only together with ``effort``."""
    prompt_cache_key: str | None = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    store: bool = False
    include: tuple[str, ...] = ()
    reasoning_field: str = ""
    """The field in which Chat wants the model's reasoning back with its tool calls; empty for none."""
    tools_as_item: bool = False
    tool_field: bool = True
    """Whether tools may be a field of a Responses request; else they are an item over HTTP too."""
    instructions_as_item: bool = False
    """Whether tools and instructions begin the input of a Responses conversation, so that requests that
    continue it need not repeat them."""
    steer: bool = False
    """Whether a Responses conversation over WebSocket takes a prompt in the middle of an answer."""
    responses_extra: Mapping[str, Any] = field(default_factory=dict)
    """The fields of ``extra`` that only the Responses dialect has."""
    chat_extra: Mapping[str, Any] = field(default_factory=dict)
    """The fields that only the Chat dialect has."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def fields(self, *, standing_items: bool = False) -> dict[str, Any]:
        """The body's fields without ``input``; fields that are not set are left out. With ``standing_items``
        those are left out that :meth:`standing_items` holds."""
        body: dict[str, Any] = {"model": self.model, "store": self.store}
        if self.instructions and not (standing_items and self.instructions_as_item):
            body["instructions"] = self.instructions
        if self.tools and not (standing_items and self.tools_as_item):
            body["tools"] = list(self.tools)
        if self.effort is not None:
            body["reasoning"] = {"effort": self.effort}
            if self.summary is not None:
                body["reasoning"]["summary"] = self.summary
        if self.include:
            body["include"] = list(self.include)
        for name in ("service_tier", "prompt_cache_key", "parallel_tool_calls", "max_output_tokens"):
            value = getattr(self, name)
            if value is not None:
                body[name] = value
        return {**body, **self.extra}

    def standing_items(self) -> list[StandingItem]:
        """The items that begin the input of a conversation over WebSocket: its tools and its instructions, as
        far as the model takes them there."""
        items: list[StandingItem] = []
        if self.tools and self.tools_as_item:
            items.append({"type": "additional_tools", "role": "developer", "tools": self.tools})
        if self.instructions and self.instructions_as_item:
            text: InputText = {"type": "input_text", "text": self.instructions}
            items.append({"type": "message", "role": "developer", "content": [text]})
        return items
