"""What the route of a ChatGPT plan refuses of a request, for a script that says ``plan = true``.

Source: developers.openai.com/siwc/token-sharing-open-source/preview-limitations, looked at in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from session.partner.server.requests import BadRequest, Request

UNSUPPORTED = "subscription_sharing_unsupported_capability"
_FIELDS = (
    *("background", "conversation", "max_output_tokens", "max_tool_calls", "metadata", "moderation"),
    *("multi_agent", "prompt", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
    *("service_tier", "temperature", "top_logprobs", "top_p", "truncation", "user"),
)
"""Those of the page, and two that others saw refused."""
_TOOLS = ("namespace", "web_search")
"""The kinds of tools that may be in the field: functions stand in namespaces, or in an item of the input."""


def check_plan_request(request: Request) -> None:
    """Raises :class:`BadRequest` for what the route does not take."""
    body = request.body
    for name in _FIELDS:
        if name in body:
            raise _unsupported(f"Unsupported parameter: '{name}'.", name)
    over_http = body.get("type") != "response.create"
    if body.get("store") is not False or (over_http and body.get("stream") is not True):
        raise _unsupported("store must be false and stream must be true.", "store")
    if over_http and body.get("previous_response_id") is not None:
        raise _unsupported("previous_response_id is for WebSockets.", "previous_response_id")
    if any(tool.get("type") not in _TOOLS for tool in body.get("tools") or ()):
        raise _unsupported("Tools stand in namespaces, or in additional_tools.", "tools")
    given = body.get("input")
    for at, item in enumerate(given if isinstance(given, list) else ()):
        if item.get("role") == "system":
            raise _unsupported("A message of the system is not supported.", f"input[{at}]")


def plan_models(names: tuple[str, ...]) -> Mapping[str, Any]:
    """The account's list of models: the last one is not meant to be shown."""
    rows = [{"slug": name, "display_name": name.upper(), "visibility": "list"} for name in names]
    return {"models": [*rows, {"slug": "hidden-model", "display_name": "Hidden", "visibility": "hide"}]}


def _unsupported(message: str, param: str) -> BadRequest:
    return BadRequest(UNSUPPORTED, message, param=param)
