"""The Chat Completions dialect: writes a request's body and reads the chunks of its stream.

Source: OpenAI's public Chat Completions reference, and what compatible servers (vLLM, llama.cpp,
OpenRouter, Groq, Cerebras, Ollama) are known to do differently: they send usage on the last chunk or on
a separate one, reasoning as ``reasoning`` or ``reasoning_content``, content as parts, a whole message and no
deltas, errors in the stream, or no ``[DONE]``.

The calls of one answer are told apart whichever way the server does it. Gateways and small servers are
known to send no index, 0 for every call, an id in each piece, ids that differ from piece to piece, the name
in each piece, or none of them and the calls one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Created, Garbled, PromptRead, TokenUsage, WireEvent
from session.wire.protocol.frames import NotAnObject, is_object, parse_object
from session.wire.protocol.items import FunctionTool, Sent
from session.wire.protocol.parts import Parts, count
from session.wire.protocol.request import RequestProfile
from session.wire.protocol.turns import Turn, functions, turns


@dataclass(slots=True)
class _Call:
    number: int
    index: int | None
    position: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a call: ``position`` is its place in the list of its chunk, the rest what the server said.
    Without arguments it is ``empty``."""

    position: int
    index: int | None = None
    call_id: str = ""
    name: str = ""
    empty: bool = False


class ChatCalls:
    """The calls of one answer so far."""

    def __init__(self, is_whole: Callable[[int], bool]) -> None:
        """``is_whole`` says whether the arguments of the call with that number are a whole JSON object."""
        self._is_whole = is_whole
        self._calls: list[_Call] = []

    def number(self, piece: CallPiece) -> int:
        """The number of the call that ``piece`` is part of, from 0."""
        call = self._of_index(piece) if piece.index is not None else self._of_id_or_position(piece)
        if call is None:
            call = _Call(len(self._calls), piece.index, piece.position, piece.call_id, piece.name)
            self._calls.append(call)
        call.call_id = call.call_id or piece.call_id
        call.name = call.name or piece.name
        return call.number

    def _of_index(self, piece: CallPiece) -> _Call | None:
        calls = [call for call in self._calls if call.index == piece.index]
        same = [call for call in calls if piece.call_id and call.call_id == piece.call_id]
        if same or not calls:
            return same[-1] if same else None
        # 0 for every call: a name with another id starts one. Without a name, each piece has its own id.
        another = piece.name and piece.call_id and calls[-1].call_id
        return None if another else calls[-1]

    def _of_id_or_position(self, piece: CallPiece) -> _Call | None:
        same = [call for call in self._calls if piece.call_id and call.call_id == piece.call_id]
        there = [call for call in self._calls if call.position == piece.position]
        if not same and not there:
            return None
        call = (same or there)[-1]
        if not piece.name or not call.name:
            return call
        other_id = piece.call_id and call.call_id and piece.call_id != call.call_id
        if other_id or piece.name != call.name:
            return None
        return None if not piece.empty and self._is_whole(call.number) else call


_DONE = b"[DONE]"
_CLEAN = frozenset(
    [
        "stop",
        "eos",
        "eos_token",
        "end",
        "end_turn",
        "stop_sequence",
        "complete",
        "completed",
        "tool_calls",
        "tool_call",
        "tool_use",
        "function_call",
    ]
)
"""The reasons, in lower case, for which an answer is whole; with any other, or with none, it was cut off."""
_CUT = dict.fromkeys(
    ("length", "max_tokens", "max_length", "max_output_tokens", "model_length"), "max_output_tokens"
)
_NO_REASON = "the server gave no finish_reason"
_DEEPEST_THOUGHT = 4
_WORDS = (None, "text", "output_text", "input_text")


def encode_chat(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /chat/completions`` for ``items``, the full input."""
    messages: list[dict[str, Any]] = []
    if profile.instructions:
        messages.append({"role": "system", "content": profile.instructions})
    told = turns(items)
    # Once the model has thought, each of its calls needs the field, be it empty.
    reasoning = profile.reasoning_field if any(turn.reasoning for turn in told) else ""
    for turn in told:
        messages += _messages(turn, reasoning)
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
    return {**body, **profile.chat_extra, **profile.extra}


def _messages(turn: Turn, reasoning_field: str) -> list[dict[str, Any]]:
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
    # Several texts are one string: strict servers take no parts, and templates join parts without a break.
    return [*results, {"role": "user", "content": "\n\n".join(turn.texts)}] if turn.texts else results


def _read_so_far(body: dict[str, Any]) -> list[WireEvent]:
    """How far llama.cpp has read the prompt, where it was asked to tell (``return_progress``)."""
    told = body.get("prompt_progress")
    total, read = count(told, "total"), count(told, "processed")
    return [PromptRead(min(read, total), total)] if total else []


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
        self._in_deltas = False
        """Whether a piece has come in a delta: a whole message after that repeats it."""
        self._calls = ChatCalls(self._is_whole)

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, the data of one server-sent event."""
        if self.finished:
            return []
        data = frame.encode("utf-8", "replace") if isinstance(frame, str) else bytes(frame)
        if data.strip() == _DONE:
            return self._finish(self._ended)
        try:
            body = parse_object(data)
        except NotAnObject as problem:
            return [Garbled(str(problem))]
        if body.get("error") or _is_flat_error(body):
            self.finished = True
            return [read_error(body)]
        events = self._identify(body) + _read_so_far(body)
        usage = body.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(usage) or self._usage
        choices = body.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index") in (0, None):
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

    def _is_whole(self, call: int) -> bool:
        return is_object(self._parts.said("function_call", _call_key(call)))

    def _choice(self, choice: dict[str, Any]) -> list[WireEvent]:
        events: list[WireEvent] = []
        delta, message, text = choice.get("delta"), choice.get("message"), choice.get("text")
        if isinstance(delta, dict) and delta:
            events = self._delta(delta)
            self._in_deltas = self._in_deltas or bool(events)
        elif isinstance(message, dict):
            repeated = self._in_deltas and message.get("content") == self._parts.said("message", "text")
            events = [] if repeated else self._delta(message)
        elif isinstance(text, str) and text:
            events = self._parts.text(text)
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
        if thought := _thought(delta.get("reasoning_content")) or _thought(delta.get("reasoning")):
            events += self._parts.reasoning(thought)
        for name in ("content", "refusal"):
            events += self._content(delta.get(name))
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                events += self._call(call, position)
        if isinstance(called := delta.get("function_call"), dict):  # the form before `tool_calls`
            events += self._call({"function": called}, 0)
        return events

    def _content(self, content: object) -> list[WireEvent]:
        """The text of a message: a string, or parts of which some may be reasoning (Mistral, Databricks)."""
        if isinstance(content, list):
            return [event for part in content if not isinstance(part, list) for event in self._content(part)]
        if isinstance(content, str):
            return self._parts.text(content) if content else []
        if not isinstance(content, dict):
            return []
        text = content.get("text")
        words = _text(text.get("value") if isinstance(text, dict) else text)
        if words and content.get("type") in _WORDS:
            return self._content(words)
        if refusal := _text(content.get("refusal")):
            return self._content(refusal)
        if thought := _thought(content):
            return self._parts.reasoning(thought)
        empty = content.get("type") in _WORDS and isinstance(text, str)
        why = f"a part of the kind {content.get('type')!r} in a message"
        return [] if empty else [Garbled(why, of_message=True)]

    def _call(self, call: dict[str, Any], position: int) -> list[WireEvent]:
        given = call.get("function")
        function: dict[str, Any] = given if isinstance(given, dict) else {}
        name, text, call_id = _text(function.get("name")), function.get("arguments"), _text(call.get("id"))
        if isinstance(text, dict):
            text = json.dumps(text)
        index = call.get("index")
        piece = CallPiece(
            position, index if type(index) is int else None, call_id, name, not str(text or "").strip()
        )
        number = self._calls.number(piece)
        return self._parts.tool(_call_key(number), call_id=call_id, name=name, piece=text)

    def _finish(self, reason: str | None) -> list[WireEvent]:
        self.finished = True
        said = (reason or "").lower()
        if said == "error":
            return [read_error({"message": "the server ended its answer with an error"})]
        if said in _CLEAN or (reason is None and self._parts.calls_are_whole()):
            return self._parts.finish("completed", self._id, self._usage, None)
        return self._parts.finish("incomplete", self._id, self._usage, _CUT.get(said, reason or _NO_REASON))


def _is_flat_error(body: dict[str, Any]) -> bool:
    """Whether a chunk is an error without a field of that name: vLLM's are, and those of ``event: error``."""
    named = body.get("object") == "error" or body.get("type") == "error"
    return bool(_text(body.get("message"))) and (named or not body.keys() & {"id", "choices", "usage"})


def _call_key(number: int) -> object:
    return "tool", number


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _thought(given: object) -> str:
    """The reasoning in ``given``: a string, a part of a message, or a list of those."""
    if isinstance(given, str):
        return given
    if isinstance(given, list):
        return "".join(map(_thought, given))
    if not isinstance(given, dict):
        return ""
    return next(
        filter(None, (_thought(given.get(name)) for name in ("thinking", "reasoning", "text", "summary"))), ""
    )


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
