"""All configured MCP servers as one provider of tools, and what they offer, for ``spark mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from session.base.tasks import BackgroundTasks
from session.base.text.wording import listed
from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.settings import McpServer, ServerFolders
from session.tools.mcp.tools import McpTool, spark_tools
from session.tools.tool import Tool, plural

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
