"""The Chat Completions dialect: writes a request's body and reads the chunks of its stream.

Source: OpenAI's public Chat Completions reference, and what compatible servers (vLLM, llama.cpp,
OpenRouter, Groq, Cerebras, Ollama) are known to do differently: they send usage on the last chunk or on
a separate one, reasoning as ``reasoning`` or ``reasoning_content``, errors in the stream, or no ``[DONE]``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Created, FinalStatus, Garbled, TokenUsage, WireEvent
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import FunctionTool, Item
from session.wire.protocol.parts import Parts, count
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.turns import Turn, functions, turns

_DONE = b"[DONE]"
_CUT = {"length": "max_output_tokens", "max_tokens": "max_output_tokens", "content_filter": "content_filter"}


def encode_chat(profile: RequestProfile, items: Sequence[Item]) -> dict[str, Any]:
    """The body of ``POST /chat/completions`` for ``items``, the full input."""
    messages: list[dict[str, Any]] = []
    if profile.instructions:
        messages.append({"role": "system", "content": profile.instructions})
    told = turns(items)
    # Once the model has thought, each of its calls needs the field, be it empty.
    reasoning = profile.reasoning_field if any(turn.reasoning for turn in told) else ""
    for turn in told:
        messages += _messages(turn, reasoning, one_text=bool(profile.reasoning_field))
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    tools = [{"type": "function", "function": _function(tool)} for tool in functions(profile.tools)]
    if tools:
        body["tools"] = tools
        if profile.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = profile.parallel_tool_calls
    if profile.effort is not None:
        body["reasoning_effort"] = profile.effort
    if profile.max_output_tokens is not None:
        body["max_completion_tokens"] = profile.max_output_tokens
    for name in ("service_tier", "prompt_cache_key"):
        value = getattr(profile, name)
        if value is not None:
            body[name] = value
    return {**body, **profile.extra}


def _messages(turn: Turn, reasoning_field: str, *, one_text: bool) -> list[dict[str, Any]]:
    if turn.role == "assistant":
        message: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(turn.texts) or None}
        if turn.calls:
            if reasoning_field:
                message[reasoning_field] = "\n\n".join(turn.reasoning)
            message["tool_calls"] = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps({"input": call.arguments}) if call.custom else call.arguments,
                    },
                }
                for call in turn.calls
            ]
        return [message]
    results = [
        {"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in turn.results
    ]
    content = _user_content(turn.texts, one_text=one_text)
    return [*results, {"role": "user", "content": content}] if turn.texts else results


def _user_content(texts: Sequence[str], *, one_text: bool) -> str | list[dict[str, str]]:
    """Several texts as parts, with a blank line at the end of each but the last: many servers' templates join
    parts without anything between them. ``one_text`` is for servers that take no parts (DeepSeek)."""
    if one_text or len(texts) < 2:
        return "\n\n".join(texts)
    return [{"type": "text", "text": f"{text}\n\n"} for text in texts[:-1]] + [
        {"type": "text", "text": texts[-1]}
    ]


def _function(tool: FunctionTool) -> dict[str, Any]:
    return {name: value for name, value in tool.items() if name != "type"}


class ChatDecoder:
    """Reads the chunks of one answer: ``feed(data) -> events``, then ``end()`` when the stream ends."""

    def __init__(self, origin: str = "", *, keeps_reasoning: bool = False) -> None:
        """``origin`` marks the answer's reasoning; with ``keeps_reasoning`` the server wants that back."""
        self.finished = False
        self._parts = Parts(origin, keeps_reasoning=keeps_reasoning)
        self._id = ""
        self._ended: str | None = None
        self._usage: TokenUsage | None = None
        self._calls: dict[int, tuple[str, int]] = {}
        """Maps an index to the id of the call that streams there and the number of calls before it."""

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, the data of one server-sent event."""
        if self.finished:
            return []
        data = frame.encode("utf-8", "replace") if isinstance(frame, str) else bytes(frame)
        if data.strip() == _DONE:
            return self._finish(self._ended or "stop")
        try:
            body = parse_object(data)
        except NotAnObject as problem:
            return [Garbled(str(problem))]
        if body.get("error"):
            self.finished = True
            return [read_error(body)]
        events = self._identify(body)
        usage = body.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(usage) or self._usage
        choices = body.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                return events + self._choice(choice)
        return events

    def end(self) -> list[WireEvent]:
        """The last events when the stream ends; some servers mark the end of an answer in no other way."""
        return [] if self.finished or self._ended is None else self._finish(self._ended)

    def _identify(self, body: dict[str, Any]) -> list[WireEvent]:
        identity = body.get("id")
        if self._id or not isinstance(identity, str) or not identity:
            return []
        self._id = identity
        return [Created(identity)]

    def _choice(self, choice: dict[str, Any]) -> list[WireEvent]:
        delta: Any = choice.get("delta") or choice.get("message")
        events: list[WireEvent] = self._delta(delta) if isinstance(delta, dict) else []
        if choice.get("error"):
            self.finished = True
            return [*events, read_error(choice)]
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._ended = reason
        return events

    def _delta(self, delta: dict[str, Any]) -> list[WireEvent]:
        events: list[WireEvent] = []
        # Some servers send the same reasoning under both names.
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            events += self._parts.reasoning(thought)
        for name in ("content", "refusal"):
            text = delta.get(name)
            if isinstance(text, str) and text:
                events += self._parts.text(text)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                events += self._call(call, position)
        return events

    def _call(self, call: dict[str, Any], position: int) -> list[WireEvent]:
        index = call.get("index")
        key = index if isinstance(index, int) else position
        given = call.get("function")
        function: dict[str, Any] = given if isinstance(given, dict) else {}
        name, piece = function.get("name"), function.get("arguments")
        call_id = call.get("id") if isinstance(call.get("id"), str) else ""
        if isinstance(name, str) and name:
            # Some servers send no index, or 0 for every call: a name with another id starts a new call.
            known, before = self._calls.get(key, (None, 0))
            another = known is not None and (call_id != known if call_id else index is None)
            self._calls[key] = (call_id or known or "", before + another)
        _, before = self._calls.get(key, ("", 0))
        if isinstance(piece, dict):
            piece = json.dumps(piece)
        return self._parts.tool(("tool", key, before), call_id=call_id, name=name, piece=piece)

    def _finish(self, reason: str) -> list[WireEvent]:
        self.finished = True
        if reason == "error":
            return [read_error({"message": "the server ended its answer with an error"})]
        cut = _CUT.get(reason)
        status: FinalStatus = "completed" if cut is None else "incomplete"
        return self._parts.finish(status, self._id, self._usage, cut)


def _usage(usage: dict[str, Any]) -> TokenUsage | None:
    """The server's token count. None where all counts are zero or missing: the caller then estimates."""
    counted = TokenUsage(
        count(usage, "prompt_tokens"),
        count(usage, "prompt_tokens_details", "cached_tokens"),
        count(usage, "completion_tokens"),
        count(usage, "completion_tokens_details", "reasoning_tokens"),
        count(usage, "prompt_tokens_details", "cache_write_tokens"),
    )
    return counted if counted.input_tokens or counted.output_tokens else None
