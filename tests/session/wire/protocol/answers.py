"""Rows of frames and their events, and what complete answers hold."""

from __future__ import annotations

import json
from typing import Any

from session.wire.protocol.dialects import Decoder
from session.wire.protocol.events import FinalStatus, Finished, TokenUsage, WireEvent

Rows = list[tuple[dict[str, Any] | str, list[WireEvent]]]


def play(decoder: Decoder, rows: Rows) -> None:
    for number, (frame, events) in enumerate(rows, 1):
        text = frame if isinstance(frame, str) else json.dumps(frame)
        assert decoder.feed(text) == events, f"row {number}"


def message(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **more}


def call(call_id: str, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def thought(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}], **more}


def whole(
    *items: dict[str, Any],
    usage: TokenUsage | None = None,
    identity: str = "",
    status: FinalStatus = "completed",
    reason: str | None = None,
) -> Finished:
    return Finished(status, identity, items, usage, reason)
