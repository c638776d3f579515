"""Takes the tools that a server describes wrongly out of its list, so that it keeps the others.

The ``mcp`` package refuses the whole list for one tool without a schema. Its session is given the answer to
``tools/list`` without such tools, each checked by the package's own rules.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from session.base.text.sanitize import clean_line

_LIST = "tools/list"
_VERSION = "2025-11-25"
"""What the package assumes where nothing was negotiated."""
_LONGEST = 60


def pass_over_odd_tools(session: Any, tell: Callable[[str], None]) -> None:
    """Have ``session``, of the ``mcp`` package, pass over odd tools; ``tell`` gets a line for each."""
    dispatcher = session._dispatcher  # the package checks the list before anybody sees it
    send = dispatcher.send_raw_request
    types, methods = import_module("mcp.types"), import_module("mcp_types.methods")

    def check(listed: dict[str, Any]) -> None:
        """Raises ValueError."""
        version = session._negotiated_version or _VERSION
        if (_LIST, version) in methods.SERVER_RESULTS:
            methods.validate_server_result(_LIST, version, listed)
        for tool in listed["tools"]:
            types.Tool.model_validate(tool, by_name=False)

    async def send_raw_request(method: str, *arguments: Any, **named: Any) -> Any:
        result = await send(method, *arguments, **named)
        if method != _LIST or not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return result
        kept: list[Any] = []
        for tool in map(_mended, result["tools"]):
            try:
                check({**result, "tools": [tool]})
            except ValueError as problem:  # pydantic's error is one
                tell(
                    f"{_name(tool)}: its server describes it wrongly ({clean_line(_why(problem))[:_LONGEST]})"
                )
            else:
                kept.append(tool)
        return {**result, "tools": kept}

    dispatcher.send_raw_request = send_raw_request


def _mended(tool: Any) -> Any:
    """``tool`` without the schema of its answers, which nobody reads, and with the type of its arguments."""
    if not isinstance(tool, dict):
        return tool
    schema = tool.get("inputSchema")
    typed = {"type": "object", **schema} if isinstance(schema, dict) else schema
    return {**{key: value for key, value in tool.items() if key != "outputSchema"}, "inputSchema": typed}


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return clean_line(name)[:_LONGEST] if isinstance(name, str) and name else "a tool without a name"


def _why(problem: ValueError) -> str:
    """The first thing that is wrong, and where."""
    errors: Any = getattr(problem, "errors", list)()
    if not errors:
        return str(problem)
    place = ".".join(str(part) for part in errors[0]["loc"] if part != "tools" and not isinstance(part, int))
    return f"{place}: {errors[0]['msg']}" if place else str(errors[0]["msg"])
