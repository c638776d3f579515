"""Lists what the configured servers offer, for ``spark mcp``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.settings import McpServer
from session.tools.mcp.tools import spark_tools
from session.tools.mcp.working_folder import ServerFolders


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
