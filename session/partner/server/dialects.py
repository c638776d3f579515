"""The partner's HTTP dialects: reads their requests, and translates a Responses answer to their events.

:class:`~session.partner.server.answer.Answer` always makes Responses frames. For Chat Completions and
Messages they are translated one by one, so that every script and fault works in all dialects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from session.partner.server.requests import BadRequest, Request, request_of
from session.wire.instructions import HEADS
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.turns import DEVELOPER_OPEN

Writer = Callable[[str | bytes], bytes]
"""Converts a frame of the answer to the bytes to send for it, which may be none."""


@dataclass(frozen=True, slots=True)
class HttpDialect:
    """One dialect; ``name`` is its name in ``session.wire.protocol.dialects``."""

    name: str
    read: Callable[[dict[str, Any], int], Request]
    writer: Callable[[str, str], Writer]
    """Makes the writer for a response's id and model."""
    error: Callable[[str, str, int], dict[str, object]]
    """Makes an error's body from its code, message and status."""


def event(data: str | bytes, name: str = "") -> bytes:
    """One server-sent event."""
    raw = data.encode("utf-8") if isinstance(data, str) else data
    lines = b"".join(b"data: %b\n" % line for line in raw.split(b"\n"))
    return (f"event: {name}\n".encode() if name else b"") + lines + b"\n"


def nested_error(code: str, message: str, status: int) -> dict[str, object]:
    """The error body of OpenAI's dialects."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def nothing_at(path: str) -> dict[str, object]:
    """The body of a 404."""
    return nested_error("not_found", f"Nothing is served at {path or '/'}.", 404)


def _messages_error(code: str, message: str, status: int) -> dict[str, object]:
    return {"type": "error", "error": {"type": code, "message": message}}


# -- reading -----------------------------------------------------------------------------------


def _read_responses(body: dict[str, Any], size: int) -> Request:
    return request_of(body, size, body.get("input"))


def _read_chat(body: dict[str, Any], size: int) -> Request:
    items: list[dict[str, Any]] = []
    for message in _list(body.get("messages"), "messages"):
        role = message.get("role")
        if role == "tool":
            items.append(_output(message.get("tool_call_id"), message.get("content")))
        elif message.get("tool_calls"):
            items += _said(str(role), message.get("content"))
            items += [_call(each.get("id"), each.get("function")) for each in message["tool_calls"]]
        elif role != "system" or items:
            items += _said(str(role), message.get("content"))
    return request_of(body, size, items)


def _read_messages(body: dict[str, Any], size: int) -> Request:
    if not isinstance(body.get("max_tokens"), int):
        raise BadRequest("invalid_request_error", "max_tokens: Field required", param="max_tokens")
    items: list[dict[str, Any]] = []
    for message in _list(body.get("messages"), "messages"):
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                items.append(_output(block.get("tool_use_id"), block.get("content")))
        items += _said(str(message.get("role")), content)
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                items.append(_call(block.get("id"), block))
    # An answer of no tokens only fills the cache.
    return replace(request_of(body, size, items), generate=body["max_tokens"] != 0)


def _list(value: Any, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise BadRequest("invalid_value", f"{name} must be a list of objects.", param=name)
    return value


def _output(call_id: Any, content: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": str(call_id), "output": content or ""}


def _call(call_id: Any, function: Any) -> dict[str, Any]:
    name = function.get("name") if isinstance(function, dict) else None
    return {"type": "function_call", "call_id": str(call_id), "name": str(name)}


_HEADS = "|".join(map(re.escape, (*HEADS, DEVELOPER_OPEN, "## Request\n\n")))
_BEGINS = re.compile(f"\n\n(?={_HEADS})")
"""Where a text of spark's begins in a message that joins several: Chat has them as one string."""


def _said(role: str, content: Any) -> list[dict[str, Any]]:
    """A message's texts, each as an item; text marked as the program's has the developer role."""
    if isinstance(content, str):
        texts = _BEGINS.split(content)
    else:
        parts = content if isinstance(content, list) else []
        texts = [
            part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    return [
        {
            "type": "message",
            "role": "developer" if role == "system" or text.startswith(DEVELOPER_OPEN) else role,
            "content": text,
        }
        for text in texts
    ]


# -- writing -----------------------------------------------------------------------------------


def _write_responses(response_id: str, model: str) -> Writer:
    def write(frame: str | bytes) -> bytes:
        name = ""
        if isinstance(frame, str) and frame.startswith('{"type":'):
            name = frame[8:].lstrip().removeprefix('"').partition('"')[0]
        return event(frame, name)

    return write


def _write_chat(response_id: str, model: str) -> Writer:
    head = {"id": response_id.replace("resp_", "chatcmpl-"), "object": "chat.completion.chunk", "created": 0}

    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        return event(json.dumps({**head, "model": model, "choices": choices, **more}, separators=(",", ":")))

    announced: dict[str, int] = {}  # the place of each tool call, by its item's id

    def call(item: dict[str, Any]) -> bytes:
        """The start of a tool call, or the whole call if it was not announced before."""
        place = announced[item["id"]] = len(announced)
        function = {"name": item["name"], "arguments": item["arguments"]}
        begun = {"index": place, "id": item["call_id"], "type": "function", "function": function}
        return chunk({"tool_calls": [begun]})

    def write(frame: str | bytes) -> bytes:
        body = _parsed(frame)
        if body is None:
            return event(frame)
        kind = body.get("type")
        if _is_call(body) and body["item"]["id"] not in announced:
            return call(body["item"])
        if kind == "response.function_call_arguments.delta" and body["item_id"] in announced:
            piece = {"index": announced[body["item_id"]], "function": {"arguments": body["delta"]}}
            return chunk({"tool_calls": [piece]})
        if kind == "response.created":
            return chunk({"role": "assistant", "content": ""})
        if kind == "response.output_text.delta":
            return chunk({"content": body["delta"]})
        if kind == "response.reasoning_summary_text.delta":
            return chunk({"reasoning_content": body["delta"]})
        if kind == "response.completed":
            usage = body["response"]["usage"]
            counts = {
                "prompt_tokens": usage["input_tokens"],
                "completion_tokens": usage["output_tokens"],
                "total_tokens": usage["total_tokens"],
                "completion_tokens_details": usage["output_tokens_details"],
            }
            return (
                chunk({}, "tool_calls" if announced else "stop") + chunk(None, usage=counts) + event("[DONE]")
            )
        if kind in ("error", "response.failed"):
            return event(json.dumps(nested_error(*_failure(body))))
        return b""

    return write


def _write_messages(response_id: str, model: str) -> Writer:
    block: list[str] = []  # the kind of the open block
    blocks = 0
    used: set[str] = set()  # the tool calls that were begun, by their items' ids

    def say(kind: str, **fields: Any) -> bytes:
        return event(json.dumps({"type": kind, **fields}, separators=(",", ":")), kind)

    def delta(kind: str, text: str) -> bytes:
        nonlocal blocks
        opening = b""
        if block != [kind]:
            opening = close()
            block.append(kind)
            blocks += 1
            started = {"type": kind, kind: ""}
            opening += say("content_block_start", index=blocks - 1, content_block=started)
        piece = {"type": f"{kind}_delta", kind: text}
        return opening + say("content_block_delta", index=blocks - 1, delta=piece)

    def close() -> bytes:
        if not block:
            return b""
        signature = b""
        if block == ["thinking"]:
            signed = {"type": "signature_delta", "signature": f"signed-{blocks}"}
            signature = say("content_block_delta", index=blocks - 1, delta=signed)
        block.clear()
        return signature + say("content_block_stop", index=blocks - 1)

    def use(item: dict[str, Any]) -> bytes:
        """The start of a tool call, with all its arguments if it was not announced before."""
        nonlocal blocks
        opening = close()
        block.append("tool_use")
        used.add(item["id"])
        blocks += 1
        started = {"type": "tool_use", "id": item["call_id"], "name": item["name"], "input": {}}
        opening += say("content_block_start", index=blocks - 1, content_block=started)
        return opening + (json_piece(item["arguments"]) if item["arguments"] else b"")

    def json_piece(text: str) -> bytes:
        piece = {"type": "input_json_delta", "partial_json": text}
        return say("content_block_delta", index=blocks - 1, delta=piece)

    def write(frame: str | bytes) -> bytes:
        body = _parsed(frame)
        if body is None:
            return event(frame)
        kind = body.get("type")
        if kind == "response.created":
            message: dict[str, Any] = {"id": response_id.replace("resp_", "msg_"), "type": "message"}
            message |= {"role": "assistant", "model": model, "content": [], "stop_reason": None}
            message |= {"stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 1}}
            return say("message_start", message=message) + say("ping")
        if _is_call(body) and body["item"]["id"] not in used:
            return use(body["item"])
        if kind == "response.function_call_arguments.delta" and body["item_id"] in used:
            return json_piece(body["delta"])
        if kind == "response.output_text.delta":
            return delta("text", body["delta"])
        if kind == "response.reasoning_summary_text.delta":
            return delta("thinking", body["delta"])
        if kind == "response.completed":
            counted = body["response"]["usage"]
            usage = {"input_tokens": counted["input_tokens"], "output_tokens": counted["output_tokens"]}
            ending = {"stop_reason": "tool_use" if used else "end_turn", "stop_sequence": None}
            return close() + say("message_delta", delta=ending, usage=usage) + say("message_stop")
        if kind in ("error", "response.failed"):
            return event(json.dumps(_messages_error(*_failure(body))), "error")
        return b""

    return write


def _parsed(frame: str | bytes) -> dict[str, Any] | None:
    """The frame's body if it is an event of the answer; None for a frame that a script sends as it is."""
    try:
        body = parse_object(frame)
    except NotAnObject:
        return None
    return body if isinstance(body.get("type"), str) else None


def _is_call(body: dict[str, Any]) -> bool:
    """Whether the event announces or ends a function call."""
    item = body.get("item")
    return isinstance(item, dict) and item.get("type") == "function_call"


def _failure(body: dict[str, Any]) -> tuple[str, str, int]:
    error = body.get("error") or body.get("response", {}).get("error") or body
    return str(error.get("code") or ""), str(error.get("message") or ""), int(body.get("status") or 400)


def _read_fim(body: dict[str, Any], size: int) -> Request:
    """A request that names the text before and behind a gap, as what the partner's suggestions are asked."""
    before = body.get("prompt", body.get("input_prefix"))
    after = body.get("suffix", body.get("input_suffix", ""))
    if not isinstance(before, str) or not isinstance(after, str):
        raise BadRequest("invalid_value", "the text before the gap must be a string", param="prompt")
    asked = f"File: gap\n\nBehind the cursor:\n{after}\n\nBefore the cursor:\n{before}"
    return request_of({"model": "fim", **body}, size, asked)


def _write_completions(response_id: str, model: str) -> Writer:
    def write(frame: str | bytes) -> bytes:
        body = _parsed(frame)
        if body is None:
            return event(frame)
        head = {"id": response_id.replace("resp_", "cmpl-"), "object": "text_completion", "model": model}
        if body.get("type") == "response.output_text.delta":
            choice = {"index": 0, "text": body["delta"], "finish_reason": None}
            return event(json.dumps({**head, "choices": [choice]}))
        if body.get("type") == "response.completed":
            used = body["response"]["usage"]
            counts = {"prompt_tokens": used["input_tokens"], "completion_tokens": used["output_tokens"]}
            ending = {"index": 0, "text": "", "finish_reason": "stop"}
            return event(json.dumps({**head, "choices": [ending], "usage": counts})) + event("[DONE]")
        return b""

    return write


_CHUNK_TEXT = re.compile(rb'"text": ("(?:[^"\\\\]|\\\\.)*")')


def _write_fim(response_id: str, model: str) -> Writer:
    """The chunks of Mistral's route, which are those of a chat."""
    write_completions = _write_completions(response_id, model)

    def write(frame: str | bytes) -> bytes:
        return _CHUNK_TEXT.sub(rb'"delta": {"content": \1}', write_completions(frame))

    return write


def _write_infill(response_id: str, model: str) -> Writer:
    def write(frame: str | bytes) -> bytes:
        body = _parsed(frame)
        if body is None:
            return event(frame)
        if body.get("type") == "response.output_text.delta":
            return event(json.dumps({"content": body["delta"], "stop": False}))
        if body.get("type") == "response.completed":
            used = body["response"]["usage"]
            counts = {"tokens_evaluated": used["input_tokens"], "tokens_predicted": used["output_tokens"]}
            return event(json.dumps({"content": "", "stop": True, **counts}))
        return b""

    return write


DIALECTS = {
    "/v1/responses": HttpDialect("responses", _read_responses, _write_responses, nested_error),
    "/v1/chat/completions": HttpDialect("chat", _read_chat, _write_chat, nested_error),
    "/v1/messages": HttpDialect("messages", _read_messages, _write_messages, _messages_error),
    "/v1/completions": HttpDialect("completions", _read_fim, _write_completions, nested_error),
    "/v1/fim/completions": HttpDialect("fim", _read_fim, _write_fim, nested_error),
    "/beta/completions": HttpDialect("beta", _read_fim, _write_completions, nested_error),
    "/infill": HttpDialect("infill", _read_fim, _write_infill, nested_error),
}
