"""All configured MCP servers as one provider of tools, and what they offer, for ``spark mcp``.

The tools of a server are wrapped as tools of spark, and their answers become text for the model.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from context.text.safe import fenced
from context.text.secrets import redact
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean, clean_line
from session.base.text.wording import listed
from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.settings import Asking, McpServer, ServerFolders
from session.tools.tool import (
    CallContext,
    Tool,
    ToolResult,
    ToolSpec,
    failed,
    lines_that_fit,
    plural,
    shortened,
)
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


Tell = Callable[[str, str], None]
"""Called with a level (``info`` or ``warning``) and a line for the user."""

_SETTLING = 0.1
"""Seconds to wait after a change before listing the tools, since changes come in bursts."""
_RESTING = 1.0
"""The shortest time between two listings, since a server may report changes all the time."""
_MOST_NAMED = 5


class McpServers:
    """Opens the servers in the background, so that a slow server delays no turn but the first.

    ``tell`` is called once with the outcome of each server, and again when it changes; ``found`` is awaited
    whenever the tools of a server become known or change.
    """

    def __init__(
        self,
        servers: Sequence[McpServer],
        environ: Mapping[str, str],
        folders: ServerFolders,
        tell: Tell,
        found: Callable[[], Awaitable[None]],
        tasks: BackgroundTasks,
        *,
        attended: bool,
    ) -> None:
        self._links = [
            McpLink(server, environ, folders, partial(self._others, number))
            for number, server in enumerate(servers)
        ]
        self._tell = tell
        self._hear = found
        self._tasks = tasks
        self._attended = attended
        self._found: dict[str, list[McpTool]] = {}
        self._told: dict[str, str] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._listing: dict[int, asyncio.Task[None]] = {}
        self._again: set[int] = set()
        """The servers whose tools changed during their listing."""

    def start(self) -> None:
        """Start opening the servers that are not open. Needs a running event loop."""
        for link in self._links:
            if link.server.name not in self._found:
                self._begin(link)

    async def opened(self) -> None:
        """Wait until each server has opened, or failed to."""
        await asyncio.gather(*self._starting)

    async def tools(self) -> Sequence[Tool]:
        """See :class:`session.tools.tool.ToolProvider`: the tools of the servers that are open by now.

        A server that was lost is opened again in the background.
        """
        self.start()
        return [tool for link in self._links for tool in self._found.get(link.server.name, [])]

    async def close(self) -> None:
        """End all servers."""
        for task in (doing := [*self._starting, *self._listing.values()]):
            task.cancel()
        await asyncio.gather(*doing, return_exceptions=True)
        await asyncio.gather(*(link.close() for link in self._links))

    def _begin(self, link: McpLink) -> None:
        name = f"opening the MCP server {link.server.name}"
        if any(task.get_name() == name for task in self._starting):
            return
        task = self._tasks.start(self._open(link), name)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _open(self, link: McpLink) -> None:
        server = link.server
        try:
            await link.open()
            made, left_out = spark_tools(link, await link.tools(), attended=self._attended)
        except McpLinkError as problem:
            self._say(server.name, "warning", str(problem))
            return
        self._found[server.name] = made
        told = f"MCP server {server.name}: {plural(len(made), 'tool')}"
        self._say(server.name, "warning" if left_out else "info", "; ".join([told, *left_out]))
        await self._hear()

    def _others(self, number: int) -> None:
        """List a server's tools again soon, once for all changes until then."""
        if self._links[number].server.name not in self._found:
            return
        if number in self._listing:
            self._again.add(number)
            return
        server = self._links[number].server.name
        task = self._tasks.start(self._list_again(number), f"listing the tools of the MCP server {server}")
        self._listing[number] = task

    async def _list_again(self, number: int) -> None:
        link, server = self._links[number], self._links[number].server
        try:
            while True:
                self._again.discard(number)
                await asyncio.sleep(_SETTLING)
                made, left_out = spark_tools(link, await link.tools(), attended=self._attended)
                before, self._found[server.name] = self._found[server.name], made
                if told := _difference(server.name, before, made):
                    level = "warning" if left_out else "info"
                    self._say(server.name, level, "; ".join([told, *left_out]))
                    await self._hear()
                await asyncio.sleep(_RESTING)
                if number not in self._again:
                    return
        except McpLinkError as problem:
            self._say(server.name, "warning", str(problem))
        finally:
            del self._listing[number]

    def _say(self, server: str, level: str, line: str) -> None:
        if self._told.get(server) != line:
            self._told[server] = line
            self._tell(level, line)


def _difference(server: str, before: Sequence[McpTool], now: Sequence[McpTool]) -> str:
    """The change in a server's tools as one line for the user; empty if there is none."""
    old, new = ({tool.spec.name: tool.spec for tool in tools} for tools in (before, now))
    changes = {
        "new": [name for name in new if name not in old],
        "gone": [name for name in old if name not in new],
        "changed": [name for name in new if name in old and new[name] != old[name]],
    }
    told = [
        f"{what}: {listed([name.removeprefix(f'{server}__') for name in names], _MOST_NAMED)}"
        for what, names in changes.items()
        if names
    ]
    return f"MCP server {server}: {plural(len(new), 'tool')} now; {'; '.join(told)}" if told else ""


@dataclass(frozen=True, slots=True)
class ToolReport:
    """A tool as the model would see it, and whether the user is asked before each call."""

    name: str
    description: str
    asks: bool


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server with its tools and lines on what was left out, or the reason why it cannot be opened."""

    name: str
    problem: str = ""
    tools: tuple[ToolReport, ...] = ()
    left_out: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


async def ask_servers(
    servers: Sequence[McpServer], environ: Mapping[str, str], folders: ServerFolders
) -> list[ServerReport]:
    """Open all servers at once, list their tools, and close them again."""
    return list(await asyncio.gather(*(_ask(server, environ, folders) for server in servers)))


async def _ask(server: McpServer, environ: Mapping[str, str], folders: ServerFolders) -> ServerReport:
    link = McpLink(server, environ, folders)
    try:
        made, left_out = spark_tools(link, await link.tools(), attended=True)
    except McpLinkError as problem:
        return ServerReport(server.name, str(problem))
    finally:
        await link.close()
    specs = [tool.spec for tool in made]
    tools = tuple(ToolReport(spec.name, spec.description, spec.asks) for spec in specs)
    return ServerReport(server.name, tools=tools, left_out=tuple(left_out))
