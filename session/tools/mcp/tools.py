"""Wraps the tools of an MCP server as tools of spark.

Converts the answer of a server's tool to text for the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from context.text.safe import fenced
from context.text.secrets import redact
from session.base.text.sanitize import clean, clean_line
from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.settings import Asking, McpServer
from session.tools.tool import CallContext, ToolResult, ToolSpec, failed, lines_that_fit, plural, shortened
from session.wire.protocol.frames import can_be_sent

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as Listed


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


LONGEST_DESCRIPTION = 1_000
LARGEST_SCHEMA = 8_000
"""The most characters of a tool's schema, since it takes room in every request."""
MOST_TOOLS = 64
"""The most tools of one server that are offered."""
MOST_LEFT_OUT = 8
"""The most lines about tools that are not offered."""
_LABEL = 80
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class McpTool:
    """One tool. Its description and schema come from the server, so they are limited and cleaned."""

    def __init__(self, link: McpLink, name: str, spec: ToolSpec) -> None:
        self._link = link
        self._name = name
        self._spec = spec

    @property
    def spec(self) -> ToolSpec:
        """See :class:`session.tools.tool.Tool`."""
        return self._spec

    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`. If the user is asked, the whole call is shown."""
        given = json.dumps(dict(arguments), ensure_ascii=False) if arguments else ""
        text = clean_line(f"{self._link.server.name}: {self._name} {given}").rstrip()
        return text if self._spec.asks or len(text) <= _LABEL else text[: _LABEL - 1] + "…"

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`."""
        if not can_be_sent(dict(arguments)):
            return (
                "The arguments cannot be sent as JSON: they contain half of a surrogate pair, or a number "
                "that is not finite."
            )
        return ""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """See :class:`session.tools.tool.Tool`."""
        try:
            result = await self._link.call(self._name, arguments)
        except McpLinkError as problem:
            return failed(str(problem))
        text = redact(clean(answer_text(result))).text
        lines = text.split("\n")
        if lines_that_fit(lines, around.room, around.count) < len(lines):
            lines = [shortened(line) for line in lines]
            text = "\n".join(lines)
        text = cut(text, lines_that_fit(lines, around.room, around.count), lines)
        if result.is_error:
            said = f"The tool failed:\n{fenced('', text)}" if text else "The tool failed and did not say why."
            return failed(said, clean_line(lines[0])[:_LABEL])
        told = fenced("", text) if text else "Done; the tool answered nothing."
        return ToolResult(told, plural(len(lines), "line"))


def spark_tools(link: McpLink, listed: list[Listed], *, attended: bool) -> tuple[list[McpTool], list[str]]:
    """The tools that can be offered, and a line for each other one that says why not.

    With nobody to ask, tools that need approval are left out.
    """
    server = link.server
    made: dict[str, McpTool] = {}
    left_out = list(link.odd)
    for tool in listed:
        if server.tools and tool.name not in server.tools:
            continue
        spec = _spec(server, tool)
        if tool.execution is not None and tool.execution.task_support == "required":
            left_out.append(f"{clean_line(tool.name)[:60]}: it runs as a task, which spark does not support")
        elif not can_be_sent(spec.parameters):
            left_out.append(f"{clean_line(tool.name)[:60]}: its schema cannot be sent to a model")
        elif len(json.dumps(spec.parameters)) > LARGEST_SCHEMA:
            left_out.append(f"{clean_line(tool.name)[:60]}: its schema is over {LARGEST_SCHEMA:,} characters")
        elif spec.name in made:
            left_out.append(f"{clean_line(tool.name)[:60]}: another tool of the server has its name")
        elif len(made) == MOST_TOOLS:
            left_out.append(f"more than {MOST_TOOLS} tools: choose some with tools = [...]")
            break
        elif attended or not spec.asks:
            made[spec.name] = McpTool(link, tool.name, spec)
    unknown = [name for name in server.tools if name not in {tool.name for tool in listed}]
    left_out += [f"{clean_line(name)[:60]}: the server has no such tool" for name in unknown]
    if (more := len(left_out) - MOST_LEFT_OUT) > 0:
        left_out[MOST_LEFT_OUT:] = [f"{more:,} more are left out"]
    return list(made.values()), left_out


def _spec(server: McpServer, tool: Listed) -> ToolSpec:
    only_reads = bool(tool.annotations and tool.annotations.read_only_hint)
    asks = {Asking.ALWAYS: True, Asking.NEVER: False, Asking.WRITES: not only_reads}[server.ask]
    schema = tool.input_schema if tool.input_schema.get("type") == "object" else {"type": "object"}
    description = clean_line(tool.description or tool.title or "")[:LONGEST_DESCRIPTION]
    name = _NOT_IN_NAMES.sub("_", f"{server.name}__{tool.name}")[:64]
    return ToolSpec(name, description, schema, reads_only=only_reads and not asks, asks=asks)
