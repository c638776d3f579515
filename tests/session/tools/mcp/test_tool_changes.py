"""MCP servers whose tools change while they run: a real server process that says so, and an older one."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from session.base.events import Notice
from session.base.tasks import BackgroundTasks
from session.tools.mcp.servers import McpServers
from session.tools.mcp.settings import McpServer
from tests.session.calling import calling
from tests.session.talking import Listening, talking
from tests.session.tools.mcp.test_mcp import COMMAND, REAL, around, folders


async def heard(told: list[tuple[str, str]], number: int) -> tuple[str, str]:
    """The line of that number, once it is said."""
    async with asyncio.timeout(20):
        while len(told) <= number:
            await asyncio.sleep(0.02)
    return told[number]


async def test_tools_that_come_and_go_are_listed_again_and_told_in_a_line() -> None:
    told: list[tuple[str, str]] = []
    found: list[int] = []

    async def hear() -> None:
        found.append(len(told))

    def tell(level: str, line: str) -> None:
        told.append((level, line))

    servers = McpServers(
        [McpServer("practice", REAL)], {}, folders(), tell, hear, BackgroundTasks(print), attended=True
    )
    servers.start()
    await servers.opened()
    tools = {tool.spec.name: tool for tool in await servers.tools()}
    change = tools["practice__change"]
    await change.call({"come": ["one", "two"], "go": ["lines"]}, around())
    assert await heard(told, 1) == ("info", "MCP server practice: 9 tools now; new: one, two; gone: lines")
    names = {tool.spec.name for tool in await servers.tools()}
    assert {"practice__one", "practice__two"} < names and "practice__lines" not in names
    await change.call({"come": [], "go": []}, around())
    await change.call({"come": [], "go": ["one"]}, around())
    assert (await heard(told, 2))[1] == "MCP server practice: 8 tools now; gone: one"
    await asyncio.wait_for(change.call({"come": ["last"], "go": []}, around()), 20)
    await servers.close()
    assert found == [1, 2, 3], "what stayed as it was is not told"


OLD = r"""
import json, sys
names = ["one"]
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, result = asked["method"], {}
    if method == "initialize":
        info = {"name": "old", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    elif method == "tools/call":
        names[:] = ["two"]
        say(method="notifications/tools/list_changed")
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
        continue
    say(id=asked["id"], result=result)
"""


async def test_a_server_of_the_older_protocol_says_unasked_that_its_tools_changed() -> None:
    told: list[tuple[str, str]] = []

    async def hear() -> None:
        pass

    server = McpServer("old", (sys.executable, "-c", OLD))

    def tell(level: str, line: str) -> None:
        told.append((level, line))

    servers = McpServers([server], {}, folders(), tell, hear, BackgroundTasks(print), attended=True)
    servers.start()
    await servers.opened()
    (tool,) = await servers.tools()
    assert (await tool.call({}, around())).text == "```\ndone\n```\n"
    assert (await heard(told, 1))[1] == "MCP server old: 1 tool now; new: two; gone: one"
    await servers.close()


async def test_tools_that_changed_in_a_turn_are_the_next_ones(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    folder = tmp_path / "xdg" / "config" / "spark"
    folder.mkdir(parents=True)
    command = json.dumps(list(COMMAND))
    (folder / "config.toml").write_text(f'[mcp.practice]\ncommand = {command}\nask = "never"\n')
    script = calling(
        ("practice__change", {"come": ["late"], "go": ["add"]}), ("practice__add", {"one": 1, "two": 2})
    )
    async with talking(root, script) as talk:
        await talk.until(Notice, lambda event: event.text == "MCP server practice: 8 tools")
        talk.session.submit("go")
        await talk.ended("t1")
        turn = len(offered(talk))
        await talk.until(Notice, lambda event: "8 tools now; new: late; gone: add" in event.text)
        talk.session.submit("go on")
        await talk.ended("t2")
        before, after = offered(talk)[:turn], offered(talk)[turn:]
    assert len(before) > 1 and after
    assert all("practice__add" in names and "practice__late" not in names for names in before)
    assert all("practice__late" in names and "practice__add" not in names for names in after)


def offered(talk: Listening) -> list[set[str]]:
    """The names of the tools of each request."""
    return [{tool["name"] for tool in request.tools} for request in talk.partner.requests if request.generate]
