"""MCP servers that a client configures for a session."""

from __future__ import annotations

import re
from collections.abc import Sequence

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from session.tools.mcp.settings import McpServer

ClientServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_NAME = 24


class ServerError(ValueError):
    """A server that spark cannot use; the message says which and why."""


def with_client_servers(
    configured: Sequence[McpServer], given: Sequence[ClientServer]
) -> tuple[McpServer, ...]:
    """The user's configured servers and the client's, each by a name of its own; a configured one wins.

    Raises ServerError.
    """
    servers = {server.name: server for server in configured}
    for each in given:
        name = _name(each.name)
        match each:
            case McpServerStdio(command=command, args=args, env=env):
                variables = {variable.name: variable.value for variable in env}
                server = McpServer(name, command=(command, *args), env=variables)
            case HttpMcpServer(url=url, headers=headers) if url.startswith(("http://", "https://")):
                server = McpServer(name, url=url, headers={header.name: header.value for header in headers})
            case _:
                raise ServerError(f"the MCP server {each.name!r} is neither a program nor an HTTP address")
        servers.setdefault(name, server)
    return tuple(servers.values())


def _name(given: str) -> str:
    """``given`` as a name that can be part of a tool's name."""
    name = _NOT_IN_NAMES.sub("-", given).strip("-")[:_LONGEST_NAME]
    if not name:
        raise ServerError(f"{given!r} is not a name for an MCP server: it has no letter and no digit")
    return name
