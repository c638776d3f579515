"""All configured MCP servers, as one provider of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from session.mcp.link import McpLink, McpLinkError
from session.mcp.settings import McpServer
from session.mcp.tools import McpTool, spark_tools
from session.tools.fitting import plural
from session.tools.tool import Tool

Tell = Callable[[str, str], None]
"""Called with a level (``info`` or ``warning``) and a line for the person."""


class McpServers:
    """Opens the servers in the background; a turn is never held up by one that is slow or down.

    ``tell`` hears once what each server came to, and again when that changes; ``found`` is awaited when
    the tools of one more are known.
    """

    def __init__(
        self,
        servers: Sequence[McpServer],
        environ: Mapping[str, str],
        tell: Tell,
        found: Callable[[], Awaitable[None]],
        *,
        attended: bool,
    ) -> None:
        self._links = [McpLink(server, environ) for server in servers]
        self._tell = tell
        self._hear = found
        self._attended = attended
        self._found: dict[str, list[McpTool]] = {}
        self._told: dict[str, str] = {}
        self._starting: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to open the servers that are not open. Needs a running loop."""
        for link in self._links:
            if link.server.name not in self._found:
                self._begin(link)

    async def opened(self) -> None:
        """Wait until each server has opened, or failed to."""
        await asyncio.gather(*self._starting)

    async def tools(self) -> Sequence[Tool]:
        """See :class:`session.tools.tool.ToolProvider`: those of the servers that are open by now. A server
        that was lost is opened again behind it."""
        self.start()
        return [tool for link in self._links for tool in self._found.get(link.server.name, [])]

    async def close(self) -> None:
        """End all servers."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(link.close() for link in self._links))

    def _begin(self, link: McpLink) -> None:
        name = f"open mcp {link.server.name}"
        if any(task.get_name() == name for task in self._starting):
            return
        task = asyncio.create_task(self._open(link), name=name)
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

    def _say(self, server: str, level: str, line: str) -> None:
        if self._told.get(server) != line:
            self._told[server] = line
            self._tell(level, line)
