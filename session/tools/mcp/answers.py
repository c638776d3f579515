"""Converts the answer of a server's tool to text for the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.types import CallToolResult


def answer_text(result: CallToolResult) -> str:
    """The text of a result; content that is not text is only named."""
    parts = [_part(content) for content in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return "\n".join(part for part in parts if part)


def _part(content: Any) -> str:
    match content.type:
        case "text":
            return str(content.text)
        case "image" | "audio":
            return f"[{content.type}, {content.mime_type}: not shown]"
        case "resource_link":
            return f"[resource {content.uri}]"
        case "resource":
            text = getattr(content.resource, "text", None)
            return str(text) if text is not None else f"[resource {content.resource.uri}: not text]"
        case kind:
            return f"[{kind}: not shown]"


def cut(text: str, fits: int, lines: Sequence[str]) -> str:
    """The first ``fits`` of ``lines`` and the number of the others, or the whole text if all fit."""
    if fits >= len(lines):
        return text
    missing = len(lines) - fits
    return "\n".join([*lines[:fits], f"… {missing:,} more lines of the answer have no room here"])
