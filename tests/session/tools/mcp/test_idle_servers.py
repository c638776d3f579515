"""MCP servers that died while idle or cannot start, and tools that run as tasks."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from session.tools.mcp.link import McpLink, McpLinkError
from session.tools.mcp.servers import spark_tools
from session.tools.mcp.settings import McpServer
from tests.session.tools.mcp.test_mcp import COMMAND, around, folders, linked, unfenced


async def test_a_server_that_died_while_idle_costs_no_call() -> None:
    async with linked(McpServer("practice", COMMAND)) as link:
        made, _ = spark_tools(link, await link.tools(), attended=True)
        tools = {tool.spec.name: tool for tool in made}
        first = unfenced((await tools["practice__process"].call({}, around())).text)
        os.kill(int(first), signal.SIGKILL)
        while Path(f"/proc/{int(first)}").exists():  # until the loop has collected it
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)  # and its reader has seen the end of the pipe
        result = await tools["practice__add"].call({"one": 1, "two": 2}, around())
        assert (result.ok, unfenced(result.text)) == (True, "3")


async def test_a_tool_that_runs_as_a_task_is_not_offered() -> None:
    types = pytest.importorskip("mcp.types")
    listed = [
        types.Tool(name="plain", input_schema={"type": "object"}),
        types.Tool(
            name="long",
            input_schema={"type": "object"},
            execution=types.ToolExecution(task_support="required"),
        ),
        types.Tool(
            name="either",
            input_schema={"type": "object"},
            execution=types.ToolExecution(task_support="optional"),
        ),
    ]
    link = McpLink(McpServer("x", ("true",)), {}, folders())
    made, left_out = spark_tools(link, listed, attended=True)
    assert [tool.spec.name for tool in made] == ["x__plain", "x__either"]
    assert left_out == ["long: it runs as a task, which spark does not support"]


FAILS_AND_TALKS = """
import sys
print("npm error 404 Not Found - no-such-server", file=sys.stderr)
print("A complete log of this run is in /tmp/x.log", file=sys.stderr)
raise SystemExit(1)
"""


async def test_a_failed_start_is_explained_by_the_line_that_names_the_error() -> None:
    async with linked(McpServer("x", (sys.executable, "-c", FAILS_AND_TALKS))) as link:
        with pytest.raises(McpLinkError, match="npm error 404 Not Found"):
            await link.tools()
