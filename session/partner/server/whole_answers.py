"""Answers that are not streamed: a finished response as one body in each HTTP dialect."""

from __future__ import annotations

from typing import Any

from session.wire.protocol.frames import NotAnObject, parse_object


def whole_answer(dialect: str, response: dict[str, Any]) -> dict[str, Any]:
    """The body in ``dialect`` for a finished Responses object."""
    if dialect == "chat":
        return _chat(response)
    return _messages(response) if dialect == "messages" else response


def _chat(response: dict[str, Any]) -> dict[str, Any]:
    texts, thoughts, calls = _parts(response)
    message: dict[str, Any] = {"role": "assistant", "content": texts or None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    usage = response["usage"]
    return {
        "id": response["id"].replace("resp_", "chatcmpl-"),
        "object": "chat.completion",
        "created": response["created_at"],
        "model": response["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if calls else "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "total_tokens": usage["total_tokens"],
        },
    }


def _messages(response: dict[str, Any]) -> dict[str, Any]:
    texts, thoughts, calls = _parts(response)
    content: list[dict[str, Any]] = []
    if thoughts:
        content.append({"type": "thinking", "thinking": thoughts, "signature": "signed-1"})
    if texts:
        content.append({"type": "text", "text": texts})
    content += [
        {"type": "tool_use", "id": call["call_id"], "name": call["name"], "input": _arguments(call)}
        for call in calls
    ]
    usage = response["usage"]
    return {
        "id": response["id"].replace("resp_", "msg_"),
        "type": "message",
        "role": "assistant",
        "model": response["model"],
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn" if content else "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"]},
    }


def _parts(response: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """The text, the reasoning and the function calls of a response."""
    texts = [part["text"] for item in response["output"] for part in item.get("content", ())]
    thoughts = [part["text"] for item in response["output"] for part in item.get("summary", ())]
    calls = [item for item in response["output"] if item["type"] == "function_call"]
    return "".join(texts), "\n\n".join(thoughts), calls


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    try:
        return parse_object(call["arguments"])
    except NotAnObject:
        return {"input": call["arguments"]}


def count_tokens(dialect: str, tokens: int) -> dict[str, Any]:
    """The body that says how many tokens a request's input has."""
    return (
        {"input_tokens": tokens}
        if dialect == "messages"
        else {
            "object": "response.input_tokens",
            "input_tokens": tokens,
        }
    )


def failed_answer(frame: str | bytes) -> dict[str, Any] | None:
    """The error in a frame that ends an answer; None if it is no such frame."""
    try:
        body = parse_object(frame)
    except NotAnObject:
        return None
    if body.get("type") == "response.failed":
        return {"status": 500, **body["response"]["error"]}
    if body.get("type") == "error":
        return {"status": body.get("status", 500), **(body.get("error") or body)}
    return None
