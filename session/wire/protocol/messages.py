"""The Messages dialect: writes a request's body and reads the events of its stream.

Source: Anthropic's public Messages and streaming reference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Created, FinalStatus, Garbled, TokenUsage, WireEvent
from session.wire.protocol.frames import NotAnObject, can_be_sent, parse_object
from session.wire.protocol.items import FunctionTool, Sent, user_message
from session.wire.protocol.parts import Parts, count
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.turns import Call, Turn, functions, turns

MAX_TOKENS = 16_000
"""The default for ``max_tokens``, which this API requires. The catalogue reserves as much for an answer."""
_THINKING_TOKENS = {"medium": 4_096, "high": 12_000, "xhigh": 24_000}
_CACHED = {"cache_control": {"type": "ephemeral"}}
_CLEAN = frozenset({"end_turn", "stop_sequence", "tool_use", "stop", "tool_calls"})
"""The reasons for which an answer is whole (the last two are those of proxies); with any other, or with none,
it was cut off."""
_CUT = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "length": "max_output_tokens",
}
_NO_REASON = "the server gave no stop_reason"


def encode_messages(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /messages`` for ``items``, the full input. The last block is marked for caching.

    ``effort`` is a field of its own, or becomes a thinking budget; ``low`` then means no thinking.
    """
    messages: list[dict[str, Any]] = []
    for turn in turns(items):
        messages.append({"role": turn.role, "content": _blocks(turn)})
        if turn.effort:  # behind the prompt, it holds for the answer to it
            effort = {"effort": turn.effort}
            messages.append({"role": "system", "content": [], "output_config": effort})
    with_content = next((each["content"] for each in reversed(messages) if each["content"]), None)
    if with_content is not None:
        with_content[-1] |= _CACHED
    limit = profile.max_output_tokens or MAX_TOKENS
    body: dict[str, Any] = {"model": profile.model, "messages": messages, "stream": True}
    if profile.effort is not None and profile.effort_field:
        body["output_config"] = {"effort": profile.effort}
    thinking = None if profile.effort_field else _THINKING_TOKENS.get(profile.effort or "")
    if thinking is not None:
        body["thinking"] = {"type": "enabled", "budget_tokens": thinking}
        limit += thinking
    body["max_tokens"] = limit
    if profile.instructions:
        body["system"] = [{"type": "text", "text": profile.instructions, **_CACHED}]
    tools = [_tool(tool) for tool in functions(profile.tools)]
    if tools:
        body["tools"] = tools
    return {**body, **profile.extra}


def encode_warm_up(profile: RequestProfile) -> dict[str, Any]:
    """The body of ``POST /messages`` that has the server cache instructions and tools and answer nothing.

    An answer of no tokens leaves no room for a thinking budget. Instructions and tools stay cached whatever
    the thinking of the next request.
    """
    body = encode_messages(profile, [user_message(".")])
    body["messages"] = [{"role": "user", "content": "."}]
    body["max_tokens"] = 0
    del body["stream"]
    if body.get("thinking", {}).get("type") == "enabled":
        del body["thinking"]
    return body


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    # The API requires thinking before the call it led to, and a call's results first in the next turn.
    blocks: list[dict[str, Any]] = [
        *(dict(block) for block in turn.thinking),
        *(
            {"type": "tool_result", "tool_use_id": result.call_id, "content": result.text}
            for result in turn.results
        ),
    ]
    blocks += [{"type": "text", "text": text} for text in turn.texts]
    blocks += [_tool_use(call) for call in turn.calls]
    return blocks


def _tool_use(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": _arguments(call)}


def _arguments(call: Call) -> dict[str, Any]:
    if call.custom:
        return {"input": call.arguments}
    try:
        given = parse_object(call.arguments)
    except NotAnObject:
        return {"input": call.arguments}
    return given if can_be_sent(given) else {"input": call.arguments}


def _tool(tool: FunctionTool) -> dict[str, Any]:
    schema = tool.get("parameters") or {"type": "object", "properties": {}}
    named = {"name": tool["name"], "input_schema": schema}
    return {**named, "description": tool["description"]} if tool.get("description") else named


class MessagesDecoder:
    """Reads the events of one answer: ``feed(data) -> events``, then ``end()`` when the stream ends."""

    def __init__(self, origin: str = "") -> None:
        """``origin`` marks the answer's reasoning."""
        self.finished = False
        self._parts = Parts(origin)
        self._id = ""
        self._stop: str | None = None
        self._usage: dict[str, int] = {}

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, the data of one server-sent event; none for an unknown type."""
        if self.finished:
            return []
        try:
            body = parse_object(frame)
        except NotAnObject as problem:
            return [Garbled(str(problem))]
        kind = body.get("type")
        if kind == "content_block_delta":
            return self._delta(body)
        if kind == "content_block_start":
            return self._block_start(body)
        if kind == "content_block_stop":
            return self._parts.close(_key(body))
        if kind == "message_start":
            return self._start(body)
        if kind == "message_delta":
            self._stops(body.get("delta"))
            self._count(body.get("usage"))
            return []
        if kind == "message":
            return self._whole(body)
        if kind == "message_stop":
            return self._finish()
        if kind == "error" or (kind is None and "error" in body):
            self.finished = True
            return [read_error(body)]
        return [] if isinstance(kind, str) else [Garbled("an event without a type")]

    def end(self) -> list[WireEvent]:
        """The last events when the stream ends; empty if the answer is not complete."""
        return [] if self.finished or self._stop is None else self._finish()

    def _stops(self, why: object) -> None:
        stop = why.get("stop_reason") if isinstance(why, dict) else None
        self._stop = stop if isinstance(stop, str) and stop else self._stop

    def _whole(self, body: dict[str, Any]) -> list[WireEvent]:
        """The events of an answer in one body, from a server that does not stream."""
        events = self._start({"message": body})
        content = body.get("content")
        for index, block in enumerate(content if isinstance(content, list) else []):
            placed = {"index": index, "content_block": block}
            events += self._block_start(placed)
            if isinstance(block, dict) and block.get("signature"):
                events += self._parts.sign(block["signature"], index)
            events += self._parts.close(index)
        self._stops(body)
        return [*events, *self._finish()]

    def _start(self, body: dict[str, Any]) -> list[WireEvent]:
        message = body.get("message")
        if not isinstance(message, dict):
            return []
        self._count(message.get("usage"))
        identity = message.get("id")
        if self._id or not isinstance(identity, str) or not identity:
            return []
        self._id = identity
        return [Created(identity)]

    def _block_start(self, body: dict[str, Any]) -> list[WireEvent]:
        block = body.get("content_block")
        if not isinstance(block, dict):
            return []
        if block.get("type") == "tool_use":
            given = block.get("input")
            piece = json.dumps(given) if isinstance(given, dict) and given else ""
            return self._parts.tool(_key(body), call_id=block.get("id"), name=block.get("name"), piece=piece)
        if block.get("type") == "redacted_thinking" and isinstance(block.get("data"), str):
            return self._parts.signed({"type": "redacted_thinking", "data": block["data"]}, _key(body))
        return self._piece(block, "text", _key(body))

    def _delta(self, body: dict[str, Any]) -> list[WireEvent]:
        delta = body.get("delta")
        if not isinstance(delta, dict):
            return []
        kind = delta.get("type")
        if kind == "signature_delta":
            return self._parts.sign(delta.get("signature"), _key(body))
        if kind == "input_json_delta":
            return self._parts.tool(_key(body), piece=delta.get("partial_json"))
        return self._piece(delta, str(kind), _key(body))

    def _piece(self, body: dict[str, Any], kind: str, key: object) -> list[WireEvent]:
        text, thought = body.get("text"), body.get("thinking")
        if kind.startswith("text") and isinstance(text, str) and text:
            return self._parts.text(text, key)
        if isinstance(thought, str) and thought:
            return self._parts.reasoning(thought, key)
        return []

    def _count(self, usage: object) -> None:
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ):
            # Later counts are totals; a server may leave out those that have not changed.
            self._usage[name] = count(usage, name) or self._usage.get(name, 0)
        thinking = count(usage, "output_tokens_details", "thinking_tokens")
        self._usage["thinking_tokens"] = thinking or self._usage.get("thinking_tokens", 0)

    def _finish(self) -> list[WireEvent]:
        self.finished = True
        clean = self._stop in _CLEAN
        status: FinalStatus = "completed" if clean else "incomplete"
        cut = None if clean else _CUT.get(self._stop or "", self._stop or _NO_REASON)
        used = self._usage
        usage = None
        if any(used.values()):
            cached, written = used["cache_read_input_tokens"], used["cache_creation_input_tokens"]
            # This API counts tokens read from or written to the cache separately from the input.
            whole = used["input_tokens"] + cached + written
            usage = TokenUsage(whole, cached, used["output_tokens"], used["thinking_tokens"], written)
        return self._parts.finish(status, self._id, usage, cut)


def _key(body: dict[str, Any]) -> object:
    index = body.get("index")
    return index if isinstance(index, int) else "only"
