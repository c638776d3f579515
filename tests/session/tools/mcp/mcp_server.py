"""A real MCP server for the tests, made with the official package: ``python mcp_server.py [PORT]``.

Without a port it speaks on its standard streams. What the tests need to see of it they ask by its tools.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("practice")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(one: int, two: int) -> str:
    """Adds two numbers."""
    return str(one + two)


@server.tool()
def environment(name: str) -> str:
    """A variable of this server's environment."""
    return os.environ.get(name, "not set")


@server.tool()
def lines(count: int) -> str:
    """Many lines."""
    return "\n".join(f"line {number} \x1b[31m" for number in range(count))


@server.tool()
def refuse() -> str:
    """Fails."""
    raise ToolError("not today")


@server.tool()
async def wait(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "waited"


@server.tool()
def crash() -> str:
    """Ends the server."""
    print("something broke inside", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def process() -> str:
    """This server's process id."""
    return str(os.getpid())


@server.tool()
async def change(ctx: Context[Any, Any], come: list[str], go: list[str]) -> str:
    """Gives the server other tools, and says so."""
    for name in come:
        server.add_tool(process, name=name, description="Another name of process.")
    for name in go:
        server.remove_tool(name)
    await ctx.notify_tools_changed()
    return "changed"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
