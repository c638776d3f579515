"""Reads a client's frame: a valid ``response.create``, or the error to answer it with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from session.partner.script_text import count_input_tokens
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import text_of

_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}")
PATCH_TOOL = "apply_patch"
SHELLS = ("exec_command", "shell_command")
"""Codex's tools that run a line of shell."""


class BadRequest(Exception):
    """The frame cannot be answered; the fields are those of the error event."""

    def __init__(self, code: str, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.status = status

    def event(self, stream_id: str | None = None) -> str:
        """The error event."""
        error = {"type": "invalid_request_error", "code": self.code, "message": self.message}
        body = {"type": "error", "status": self.status, "error": {**error, "param": self.param}}
        return json.dumps(body if stream_id is None else {**body, "stream_id": stream_id})


@dataclass(frozen=True, slots=True)
class Request:
    """One ``response.create``. ``body`` is the whole frame, ``size`` its bytes as received."""

    body: dict[str, Any]
    size: int
    model: str
    items: tuple[dict[str, Any], ...]
    generate: bool
    previous_response_id: str | None
    stream_id: str | None
    tools: tuple[dict[str, Any], ...] = ()
    """The tools that are offered: the field, and what items of the conversation add."""
    instructions: str = ""
    """The field, or the developer's messages with which the conversation begins."""

    def after(self, items: Sequence[Mapping[str, Any]]) -> Request:
        """This request with the tools and instructions of the conversation before it."""
        instructions = self.instructions or _opening_words(items)
        return replace(self, tools=(*_added_tools(items), *self.tools), instructions=instructions)

    @property
    def offers_patch_tool(self) -> bool:
        """Whether the custom tool ``apply_patch`` is among the tools."""
        return any(tool.get("type") == "custom" and tool.get("name") == PATCH_TOOL for tool in self.tools)

    @property
    def offers_functions(self) -> bool:
        """Whether there are function tools among the tools, in any dialect's form."""
        return any(tool.get("type") in (None, "function") for tool in self.tools)

    @property
    def patch_tool(self) -> str | None:
        """The custom tool that takes patches; None if they go into the text or to a shell."""
        return PATCH_TOOL if self.offers_patch_tool else None

    @property
    def patch_shell(self) -> str | None:
        """The shell tool that takes patches, for Codex with a model that it does not know: it offers that
        model no patch tool, and applies what a shell is given for ``apply_patch``."""
        if self.offers_patch_tool:
            return None
        names = {tool.get("name") for tool in self.tools if tool.get("type") == "function"}
        return next((name for name in SHELLS if name in names), None)

    def own_tokens(self) -> int:
        """The tokens of this request's own input items."""
        return sum(count_input_tokens(json.dumps(item, ensure_ascii=False)) for item in self.items)

    def standing_tokens(self) -> int:
        """The tokens of the instructions and tools."""
        standing = [self.body.get("instructions") or "", self.body.get("tools") or ""]
        return sum(count_input_tokens(json.dumps(part, ensure_ascii=False)) for part in standing if part)


def read_request(frame: str | bytes) -> Request:
    """The request in ``frame``. Raises :class:`BadRequest`."""
    size = len(frame if isinstance(frame, bytes) else frame.encode("utf-8", "replace"))
    try:
        body = parse_object(frame)
    except NotAnObject as problem:
        raise BadRequest("invalid_json", f"The frame could not be read: {problem}.") from None
    if body.get("type") != "response.create":
        message = f"Unknown event type {body.get('type')!r}: this server takes response.create."
        raise BadRequest("unknown_event", message, param="type")
    return request_of(body, size, body.get("input"))


def request_of(body: dict[str, Any], size: int, given: Any) -> Request:
    """The request of ``body``, with ``given`` as its input. Raises :class:`BadRequest`."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequest("missing_required_parameter", "Missing required parameter: 'model'.", param="model")
    lane, previous = body.get("stream_id"), body.get("previous_response_id")
    if lane is not None and not (isinstance(lane, str) and _LANE.fullmatch(lane)):
        message = "stream_id must be 1 to 256 of the characters A-Z a-z 0-9 _ . -"
        raise BadRequest("invalid_value", message, param="stream_id")
    if previous is not None and not isinstance(previous, str):
        message = "previous_response_id must be a string."
        raise BadRequest("invalid_value", message, param="previous_response_id")
    generate = body.get("generate") is not False
    items = _items(given)
    tools = (*_flat(body.get("tools")), *_added_tools(items))
    words = body.get("instructions")
    instructions = words if isinstance(words, str) else _opening_words(items)
    return Request(body, size, model, items, generate, previous, lane, tools, instructions)


def check_calls(items: Iterable[Mapping[str, Any]]) -> None:
    """Raises :class:`BadRequest` for a call without an output, or an output without a call."""
    owed: list[str] = []
    for item in items:
        kind, call_id = str(item.get("type")), str(item.get("call_id"))
        if kind in ("function_call", "custom_tool_call"):
            owed.append(call_id)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            if call_id not in owed:
                message = f"No tool call found for the tool call output with call_id {call_id}."
                raise BadRequest("invalid_request_error", message, param="input")
            owed.remove(call_id)
        elif owed and item.get("role") == "user":
            break
    if owed:
        message = f"No tool output found for function call {owed[0]}."
        raise BadRequest("invalid_request_error", message, param="input")


def owed_calls(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls without an output."""
    told = {item.get("call_id") for item in items if str(item.get("type")).endswith("_call_output")}
    calls = (item for item in items if item.get("type") in ("function_call", "custom_tool_call"))
    return [call for call in calls if call.get("call_id") not in told]


def _added_tools(items: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tools of the ``additional_tools`` items."""
    for item in items:
        if item.get("type") == "additional_tools":
            yield from _flat(item.get("tools"))


def _opening_words(items: Iterable[Mapping[str, Any]]) -> str:
    """The text of the developer's messages before any other message."""
    messages = (item for item in items if item.get("type", "message") == "message")
    return "\n".join(
        text_of(item) for item in takewhile(lambda item: item.get("role") == "developer", messages)
    )


def _flat(tools: Any) -> Iterator[dict[str, Any]]:
    """The tools of a list, those in its namespaces too."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            yield from _flat(tool.get("tools"))
        elif isinstance(tool, dict):
            yield tool


def _items(given: Any) -> tuple[dict[str, Any], ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return ({"type": "message", "role": "user", "content": given},)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise BadRequest("invalid_value", "input must be a string or a list of items.", param="input")
    return tuple(given)
