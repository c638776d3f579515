"""What is asked of a model: the fields that stay, and the input that grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Item = dict[str, Any]
"""One item of a Responses ``input`` or ``output``: a message, a tool call, a tool call's output…"""


@dataclass(frozen=True, slots=True)
class Quirks:
    """Where a provider departs from its dialect in the body of a request: fields it refuses (``omit``)
    or knows under another name (``rename``)."""

    omit: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """``body`` as this provider takes it."""
        if not self.omit and not self.rename:
            return body
        return {self.rename.get(key, key): value for key, value in body.items() if key not in self.omit}


NO_QUIRKS = Quirks()


@dataclass(frozen=True, slots=True)
class RequestProfile:
    """Everything of a request but its input. Two requests chain only while their profiles are equal.

    ``tools`` are Responses tool definitions. ``extra`` holds further top-level fields a provider
    wants, sent as they are.
    """

    model: str
    instructions: str = ""
    tools: tuple[Item, ...] = ()
    effort: str | None = None
    service_tier: str | None = None
    summary: str | None = "auto"
    """How reasoning is summarised; sent only together with ``effort``."""
    prompt_cache_key: str | None = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    store: bool = False
    include: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """The body's fields, without ``input``; what is not set is left out."""
        body: dict[str, Any] = {"model": self.model, "store": self.store}
        if self.instructions:
            body["instructions"] = self.instructions
        if self.tools:
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


def user_message(text: str) -> Item:
    """A user message of one text part."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def tool_output(call_id: str, output: str, *, custom: bool = True) -> Item:
    """What a tool call came to; ``custom`` is false for a function call."""
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": output}


def text_of(item: Item) -> str:
    """All text of a message or of a tool's output, its parts joined; empty for other items."""
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part.get("text", part.get("refusal", "")) for part in content if isinstance(part, Mapping)]
    return "".join(part for part in parts if isinstance(part, str))
